import { candidates, faults } from "../content/leak.ts";
import type { Place } from "../content/lesson.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import type { Range } from "../state/codec.ts";
import { leakRanges } from "../state/fields/leak.ts";
import type { Inputs } from "../state/inputs.ts";
import { costControls } from "./cost.ts";
import { headsControls } from "./heads.ts";
import { minimindControls } from "./minimind-facts.ts";
import { lookupControls } from "./lookup.ts";
import { scaleControls } from "./scale.ts";
import { cacheControls } from "./cache.ts";
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

function leakControls(step: string, { length }: Inputs): readonly Control[] {
  const usesCut = ["replace", "causal", "no-mask", "after-softmax"].includes(step);
  return [
    { kind: "slider", key: "length", label: ui.length, range: leakRanges.length },
    { kind: "slider", key: "dim", label: ui.dim, range: leakRanges.dim },
    ...(usesCut ? [{ kind: "slider", key: "cut", label: ui.cut, range: [0, length - 2] } as const] : []),
    seedControl,
    ...(step === "others"
      ? [
          {
            kind: "choice",
            key: "fault",
            label: ui.fault,
            options: faults.map((name) => [name, candidates[name].name] as const),
          } as const,
        ]
      : []),
  ];
}

/** The settings of a step. */
export function controlsFor({ lesson, step }: Place, inputs: Inputs): readonly Control[] {
  switch (lesson) {
    case "heads":
      return headsControls(step, inputs);
    case "cost":
      return costControls(step, inputs);
    case "minimind":
      return minimindControls(step, inputs);
    case "lookup":
      return lookupControls(step);
    case "scale":
      return scaleControls(step);
    case "cache":
      return cacheControls(step, inputs);
    case "leak":
      return leakControls(step, inputs);
    default:
      return [];
  }
}
