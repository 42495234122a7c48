import type { BoolTensor, Tensor } from "softlookup";
import type { Text } from "../content/text.ts";

/** What a colour stands for, everywhere on the page. */
export type Role = "query" | "key" | "value" | "weight" | "plain";

/** A letter with its index, as it heads a row or stands in a line of arithmetic. */
export interface Symbol {
  name: string;
  index?: number | string;
  role?: Role;
  /** A word of a language, not a letter of a formula. */
  word?: boolean;
}

/** A piece of a line of arithmetic. */
export type Segment =
  | { kind: "symbol"; symbol: Symbol }
  /** A number of the core's, `bracketed` where a sign would clash with an operator. */
  | { kind: "number"; value: number; role: Role; bracketed: boolean }
  | { kind: "text"; text: string }
  | { kind: "gap" }
  | { kind: "words"; text: Text; values: Readonly<Record<string, number>> };

export interface Cell {
  grid: string;
  row: number;
  col: number;
}

/** Part of a matrix: a cell, or a whole row or column. */
export interface Light {
  grid: string;
  row?: number;
  col?: number;
}

/** Where the number in a cell came from. */
export interface Explanation {
  segments: readonly Segment[];
  /** The cell's own number, where there is one worth showing to the last digit. */
  exact?: number;
  lights: readonly Light[];
}

/** "leak" is a move that must not be, "wrong" a number in the wrong place. */
export type Move = "moved" | "leak" | "wrong" | undefined;

/** One matrix on the page. `data` is row-major, a number for each pair of a row and a column. */
export interface Grid {
  id: string;
  /** What the matrix is to the one before it: added, the result, … */
  sign?: "+" | "−" | "=" | "→" | "∧";
  label: Text;
  labelValues?: Readonly<Record<string, number>>;
  data: ArrayLike<number>;
  rows: readonly Symbol[];
  cols: readonly Symbol[];
  role: Role;
  /** How numbers are coloured: around 0, from 0 to 1, by size of a move, as bits of a mask, or not at all. */
  scale: "signed" | "weights" | "moves" | "bits" | "none";
  hidden?: (row: number, col: number) => boolean;
  moved?: (row: number, col: number) => Move;
  /** A line below this row: the cut. */
  cutAfter?: number;
  /** A line after every so many columns: where one head ends and the next begins. */
  group?: number;
  type?: { write: (row: number, col: number, value: number) => void; from?: number };
  toggle?: (row: number, col: number) => void;
  explain: (row: number, col: number) => Explanation;
}

export interface Figure {
  /**
   * product: left, top and result of a matrix product, rows and columns in line. flow: one after the
   * other, wrapping. stack: rows of the same columns, one below the other. pairs and triples: two or
   * three side by side, line by line.
   */
  layout: "product" | "flow" | "stack" | "pairs" | "triples";
  grids: readonly Grid[];
  /** The cell that is explained until the reader points elsewhere. */
  start: Cell;
}

export const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export const symbols = (name: string, count: number, role: Role = "plain"): Symbol[] =>
  indices(count).map((index) => ({ name, index, role }));

/** Headers that are plain numerals: components of a vector, positions of tokens. */
export const numerals = (count: number): Symbol[] => indices(count).map((index) => ({ name: String(index) }));

/** Too many cells to lay out and draw in passing. */
export const isLarge = ({ rows, cols }: Grid): boolean => rows.length * cols.length > 40;

export const firstCell = (grid: string): Cell => ({ grid, row: 0, col: 0 });

export const at = (data: ArrayLike<number>, cols: number, row: number, col: number): number =>
  data[row * cols + col] ?? NaN;

/** The same numbers with rows and columns changed over. */
export function transposed(data: ArrayLike<number>, rows: number, cols: number): number[] {
  return indices(cols).flatMap((col) => indices(rows).map((row) => at(data, cols, row, col)));
}

/** The intermediates of a trace under their names. */
export function passes<Id extends string>(trace: {
  steps: readonly { id: Id; tensor: Tensor }[];
}): Readonly<Record<Id, Float32Array>> {
  return Object.fromEntries(trace.steps.map(({ id, tensor }) => [id, tensor.data])) as Record<
    Id,
    Float32Array
  >;
}

export const bitsOf = (mask: BoolTensor | Tensor): boolean[] => Array.from(mask.data, (bit) => bit !== 0);
