import type { Inputs } from "../../state/inputs.ts";
import { costSizes, linearInputs } from "../cost.ts";
import { bitsOf } from "../figure.ts";
import type { Input, Program } from "./program.ts";
import { masks } from "softlookup";

const value = (name: string, number: number): Input => ({ name, value: number });

/** What is counted; what is measured has no numbers of its own. */
export function costProgram(step: string, inputs: Inputs): Program | undefined {
  const { costLength, costDim, costHeads, costLayers, costBytes, costTokens, costWindow } = inputs;
  const sizes = costSizes(step, inputs).map(([size]) => size);
  switch (step) {
    case "time":
      return { inputs: [value("d", costDim)], runs: [{ kind: "operations", sizes }] };
    case "matrix":
      return { inputs: [value("H", costHeads)], runs: [{ kind: "scoreTable", sizes }] };
    case "parameters":
      return { inputs: [], runs: [{ kind: "matrices", sizes }] };
    case "calculator":
      return {
        inputs: [
          value("n", costLength),
          value("d", costDim),
          value("H", costHeads),
          value("layers", costLayers),
          value("bytes", costBytes),
        ],
        runs: [{ kind: "calculator" }],
      };
    case "window":
      return {
        inputs: [value("n", costTokens), value("window", costWindow)],
        runs: [{ kind: "window" }],
      };
    case "linear": {
      const names = ["q", "k", "v"] as const;
      const given = linearInputs(inputs).map(({ data, shape }, nth): Input => ({
        name: names[nth] ?? "",
        shape,
        numbers: Array.from(data),
      }));
      const bits = bitsOf(masks.causal(costTokens));
      return {
        inputs: [...given, { name: "mask", shape: [costTokens, costTokens], bits }],
        runs: [{ kind: "attention", q: "q", k: "k", v: "v", mask: "mask", output: true }, { kind: "linear" }],
      };
    }
    default:
      return undefined;
  }
}
