import { masks } from "softlookup";
import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { tokens } from "../formula.ts";
import { maskOf } from "../mask-grids.ts";
import { underMask } from "./formula.ts";
import type { Input, Program } from "./program.ts";

export function masksProgram(step: string, inputs: Inputs): Program {
  const row: readonly Input[] = [
    { name: "scores", shape: [1, tokens], numbers: inputs.scores },
    { name: "mask", shape: [1, tokens], bits: inputs.keep },
  ];
  const run = { kind: "softmax", scores: "scores", mask: "mask" } as const;
  switch (step) {
    case "causal":
    case "causal-weights":
    case "causal-output":
      return underMask(inputs, inputs.mask);
    case "both":
    case "both-weights": {
      const both = masks.and(maskOf(inputs.mask, [tokens, tokens]), maskOf(inputs.padding, [1, tokens]));
      return underMask(inputs, bitsOf(both));
    }
    case "wrong-row":
      return { inputs: row, runs: [run, { ...run, order: "after" }] };
    case "wrong-rows": {
      const { inputs: given, runs } = underMask(inputs, inputs.mask);
      return { inputs: given, runs: [...runs, ...underMask(inputs, inputs.mask, "after").runs] };
    }
    default:
      return { inputs: row, runs: [run] };
  }
}
