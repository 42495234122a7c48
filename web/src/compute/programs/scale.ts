import { widths } from "../../state/fields/scale.ts";
import type { Inputs } from "../../state/inputs.ts";
import { transposed } from "../figure.ts";
import { dim, draws, projections, sampledQueries, samples, seedOf, tokens } from "../scale.ts";
import type { Input, Program } from "./program.ts";

/** X and its matrices as torch keeps them, [out, in]; one head, and nothing mixed afterwards. */
function layer(step: string, inputs: Inputs): Program {
  const square = (name: string, numbers: readonly number[]): Input => ({ name, shape: [dim, dim], numbers });
  const { wq, wk, wv } = projections(inputs);
  return {
    inputs: [
      { name: "x", shape: [tokens, dim], numbers: inputs.x },
      square("wq", transposed(wq, dim, dim)),
      square("wk", transposed(wk, dim, dim)),
      square("wv", transposed(wv, dim, dim)),
      square("wo", [1, 0, 0, 1]),
      { name: "H", value: 1 },
    ],
    runs: [{ kind: "heads", ...(step === "symmetric" && { besides: "skew" as const }) }],
  };
}

export function scaleProgram(step: string, inputs: Inputs): Program | undefined {
  const { width, keyCount } = inputs;
  const weigh = { kind: "attention", q: "q", k: "k", v: "k", output: false, sharpness: true } as const;
  switch (step) {
    case "draws":
      return { inputs: [], runs: [{ kind: "draws", widths, pairs: draws, seed: seedOf(inputs, 0) }] };
    case "variance":
      return { inputs: [], runs: [{ kind: "variance", widths, pairs: samples, seed: seedOf(inputs, 0) }] };
    case "entropy":
      return {
        inputs: [{ name: "keys", value: keyCount }],
        runs: [{ kind: "saturation", widths, queries: sampledQueries, seed: seedOf(inputs, 0) }],
      };
    case "saturation":
      return {
        inputs: [
          { name: "q", shape: [1, width], seed: seedOf(inputs, 0) },
          { name: "k", shape: [keyCount, width], seed: seedOf(inputs, 1) },
        ],
        runs: [weigh, { ...weigh, divisor: "1" }],
      };
    case "symmetric":
    case "merged":
      return layer(step, inputs);
    default:
      return undefined;
  }
}
