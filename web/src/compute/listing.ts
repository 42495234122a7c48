import type { Text } from "../content/text.ts";

/** A cell of a listing. Counts, bytes and numbers come from the core. */
export type Entry =
  | { kind: "text"; text: Text; values?: Readonly<Record<string, number>> }
  | { kind: "shape"; shape: readonly number[] }
  | { kind: "count"; value: number }
  | { kind: "bytes"; value: number }
  | { kind: "number"; value: number };

/** A table of facts: names, shapes, counts. The first column names its row. */
export interface Listing {
  id: string;
  columns: readonly Text[];
  /** What fills in the blanks of the columns. */
  columnValues?: Readonly<Record<string, number>>;
  rows: readonly (readonly Entry[])[];
}

export const textEntry = (text: Text, values?: Readonly<Record<string, number>>): Entry => ({
  kind: "text",
  text,
  ...(values && { values }),
});

export const count = (value: number): Entry => ({ kind: "count", value });
