import type { IdOf, Question } from "../../content/question.ts";

export interface Answer {
  /** A number, the id of an option, or "row.col". */
  answer: number | string;
  /** The core's numbers for the explanation. */
  values?: Readonly<Record<string, number>>;
}

export type Answers<Questions extends readonly Question[]> = Readonly<
  Record<IdOf<Questions>, () => Answer | Promise<Answer>>
>;

/** The cell of the only entry that is not zero. */
export function onlyCell(data: ArrayLike<number>, cols: number): string {
  const cells = Array.from(data, (value, index) => ({ value, index })).filter(({ value }) => value !== 0);
  const [{ index } = { index: NaN }] = cells;
  return cells.length === 1 ? `${String(Math.floor(index / cols))}.${String(index % cols)}` : "none";
}

export const sameBits = (one: ArrayLike<number>, other: ArrayLike<number>): boolean =>
  one.length === other.length && Array.from(one).every((value, index) => Object.is(value, other[index]));
