import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { dim, tokens } from "../formula.ts";
import { askerOf } from "../lookup.ts";
import { attention, example } from "./formula.ts";
import type { Program } from "./program.ts";

/** C's row of the example under the causal mask. */
export function lookupProgram(step: string, inputs: Inputs): Program | undefined {
  if (step !== "one-token") return undefined;
  const [, k, v] = example(inputs);
  const { q, seen } = askerOf(inputs);
  const mask = bitsOf({ data: seen, shape: [1, tokens] });
  return {
    inputs: [
      { name: "q", shape: [1, dim], numbers: q },
      ...[k, v].filter((input) => input !== undefined),
      { name: "mask", shape: [1, tokens], bits: mask },
    ],
    runs: [{ ...attention, mask: "mask" }],
  };
}
