import type { Text } from "../content/text.ts";
import type { Numbers } from "../state/codec.ts";
import { type Inputs, writer } from "../state/inputs.ts";
import { given, symbol, words } from "./explain.ts";
import { at, type Grid, type Role, type Symbol } from "./figure.ts";

/** How a figure changes the inputs; the tag names the cell. */
export type Change = (change: Partial<Inputs>, tag?: string) => void;

/** The inputs whose values are of a kind. */
export type KeysOf<Value> = {
  [Key in keyof Inputs]: Inputs[Key] extends Value ? Key : never;
}[keyof Inputs];

interface Typed {
  label: Text;
  rows: readonly Symbol[];
  cols: readonly Symbol[];
  role?: Role;
  /** The letter that stands for one of its numbers. */
  name: string;
  /** What the number in row i, column j is. */
  note: Text;
}

/** A matrix of inputs, row-major, open for typing. */
export function typedGrid(
  key: KeysOf<Numbers>,
  inputs: Inputs,
  change: Change,
  { label, rows, cols, role = "plain", name, note }: Typed,
): Grid {
  const stored = Float32Array.from(inputs[key]);
  return {
    id: key,
    label,
    data: inputs[key],
    rows,
    cols,
    role,
    scale: "signed",
    type: { write: writer(key, cols.length, inputs, change) },
    explain(row, col) {
      const exact = at(stored, cols.length, row, col);
      const index = rows.length > 1 ? `${row},${col}` : String(col);
      return {
        segments: given(symbol(name, index, role), exact, role, words(note, { i: row, j: col })),
        exact,
        lights: [],
      };
    },
  };
}
