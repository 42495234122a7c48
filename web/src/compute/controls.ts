import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import type { Range } from "../state/codec.ts";
import { leakRanges } from "../state/fields/leak.ts";
import type { Inputs } from "../state/inputs.ts";
import type { KeysOf } from "./typed.ts";

/** A setting above the figure. */
export type Control = {
  label: Text;
  /** What is set back when this is changed. */
  resets?: Partial<Inputs>;
} & (
  | { kind: "slider"; key: KeysOf<number>; range: Range }
  /** A slider over a list of numbers. */
  | { kind: "steps"; key: KeysOf<number>; values: readonly number[] }
  | { kind: "number"; key: KeysOf<number>; range: Range }
  | { kind: "choice"; key: KeysOf<string>; options: readonly (readonly [value: string, text: Text])[] }
);

/** The seed of everything that is drawn. Other tokens, so what was typed over the old ones goes; undo has it back. */
export const seedControl: Control = {
  kind: "number",
  key: "seed",
  label: ui.seed,
  range: leakRanges.seed,
  resets: { tokens: [], future: [] },
};
