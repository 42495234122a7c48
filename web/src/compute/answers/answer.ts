import type { IdOf, Question } from "../../content/question.ts";

export interface Answer {
  /** A number, the id of an option, or "row.col". */
  answer: number | string;
  /** The core's numbers for the explanation. */
  values?: Readonly<Record<string, number>>;
}

/** Asks the core. */
type Find = () => Answer | Promise<Answer>;

export type AnswerTable = Readonly<Record<string, Find>>;

export type Answers<Questions extends readonly Question[]> = Readonly<Record<IdOf<Questions>, Find>>;

export async function answerTo({ id }: Pick<Question, "id">, answers: AnswerTable): Promise<Answer> {
  const find = answers[id];
  if (find === undefined) throw new RangeError(`no answer to ${id}`);
  return find();
}

/** Is what the reader gave what the core says? */
export function isRight(question: Question, given: number | string, { answer }: Answer): boolean {
  if (question.kind !== "number") return given === answer;
  return Math.abs(Number(given) - Number(answer)) <= question.tolerance;
}

/** The cell of the only entry that is not zero. */
export function onlyCell(data: ArrayLike<number>, cols: number): string {
  const cells = Array.from(data, (value, index) => ({ value, index })).filter(({ value }) => value !== 0);
  const [{ index } = { index: NaN }] = cells;
  return cells.length === 1 ? `${String(Math.floor(index / cols))}.${String(index % cols)}` : "none";
}

export const sameBits = (one: ArrayLike<number>, other: ArrayLike<number>): boolean =>
  one.length === other.length && Array.from(one).every((value, index) => Object.is(value, other[index]));
