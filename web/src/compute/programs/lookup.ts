import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { dim, tokens } from "../formula.ts";
import { askerOf } from "../lookup.ts";
import { attention, example } from "./formula.ts";
import type { Input, Program } from "./program.ts";

const matrix = (name: string, numbers: readonly number[], cols = dim): Input => ({
  name,
  shape: [numbers.length / cols, cols],
  numbers,
});

const row = (name: string, numbers: readonly number[]): Input => ({ name, shape: [numbers.length], numbers });

const dictionary = ({ query, keys, values }: Inputs): readonly Input[] => [
  matrix("q", query),
  matrix("keys", keys),
  matrix("values", values),
];

const parameters = ({ addW, addU, addB, addV }: Inputs): readonly Input[] => [
  matrix("W", addW),
  matrix("U", addU),
  row("b", addB),
  row("v", addV),
];

const sentences = ({ decoder, encoder }: Inputs): readonly Input[] => [
  matrix("decoder", decoder),
  matrix("encoder", encoder),
];

const names = { q: "q", k: "keys", v: "values" } as const;

/** C's row of the example under the causal mask. */
function oneToken(inputs: Inputs): Program {
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

export function lookupProgram(step: string, inputs: Inputs): Program | undefined {
  switch (step) {
    case "hard":
      return { inputs: dictionary(inputs), runs: [{ kind: "hard", ...names }] };
    case "soft":
    case "temperature":
    case "nudge":
      return {
        inputs: [...dictionary(inputs), { name: "temperature", value: inputs.temperature }],
        runs: [{ kind: "attention", ...names, divisor: "temperature", output: true }],
      };
    case "additive":
    case "additive-scores":
      return {
        inputs: [...dictionary(inputs), ...parameters(inputs)],
        runs: [
          { kind: "additive", ...names },
          { kind: "attention", ...names, divisor: "1", output: true },
        ],
      };
    case "bottleneck":
      return { inputs: sentences(inputs), runs: [{ kind: "fixedContext" }] };
    case "look-back":
      return {
        inputs: [...sentences(inputs), ...parameters(inputs)],
        runs: [{ kind: "additive", q: "decoder", k: "encoder", v: "encoder" }],
      };
    case "one-token":
      return oneToken(inputs);
    default:
      return undefined;
  }
}
