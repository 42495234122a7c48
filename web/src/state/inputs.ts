import type { Fault } from "../content/leak.ts";

export type Numbers = readonly number[];
export type Bits = readonly boolean[];

/** A number typed over a drawn one. */
export interface Edit {
  row: number;
  col: number;
  value: number;
}

/** Everything that a reader can change. The matrices are row-major. */
export interface Inputs {
  /** [4, 2] each: the chapter's example, shared by the formula and the masks. */
  q: Numbers;
  k: Numbers;
  v: Numbers;
  /** [4]: the row with padding. */
  scores: Numbers;
  keep: Bits;
  /** [4, 4] and [4]: the masks of the 4-token example. */
  mask: Bits;
  padding: Bits;
  /** The sequence of the leak check. */
  length: number;
  dim: number;
  seed: number;
  /** Tokens after it are replaced. */
  cut: number;
  tokens: readonly Edit[];
  future: readonly Edit[];
  fault: Fault;
}

/** Lowest and highest; the head dimension is even, so that it splits into two heads. */
export const limits = { length: [3, 10], dim: [2, 8], seed: [0, 9999] } as const;

const bits = (text: string): Bits => [...text].map((bit) => bit === "1");

export const defaults: Inputs = {
  q: [1, 1, 0, 1, 1, 0, 0.5, 0.5],
  k: [1, 1, 0, 1, 1, 0, 0.5, 0.5],
  v: [1, 0, 0, 1, 1, 1, 0.5, 0.5],
  scores: [3, 0.5, -1, 2],
  keep: bits("1100"),
  mask: bits("1000110011101111"),
  padding: bits("1110"),
  length: 6,
  dim: 4,
  seed: 5,
  cut: 2,
  tokens: [],
  future: [],
  fault: "diagonal-plus-one",
};

/** A number that the core can hold: finite also as float32. */
function isUsable(value: number): boolean {
  return Number.isFinite(Math.fround(value));
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** What a reader typed, or undefined where it is no finite number. A true minus sign is as good as a hyphen. */
export function parseNumber(text: string): number | undefined {
  const plain = text.trim().replaceAll("−", "-");
  if (!decimal.test(plain)) return undefined;
  const value = Number(plain);
  return isUsable(value) ? value : undefined;
}

/** Takes away what no longer fits after the size of the sequence has changed. */
export function fitted(inputs: Inputs): Inputs {
  const cut = Math.min(inputs.cut, inputs.length - 2);
  const fits = ({ row, col }: Edit) => row < inputs.length && col < inputs.dim;
  return {
    ...inputs,
    cut,
    tokens: inputs.tokens.filter(fits),
    future: inputs.future.filter((edit) => fits(edit) && edit.row > cut),
  };
}

/** One more number typed over; a second one in the same cell replaces the first. */
export function withEdit(edits: readonly Edit[], edit: Edit): readonly Edit[] {
  return [...edits.filter(({ row, col }) => row !== edit.row || col !== edit.col), edit];
}
