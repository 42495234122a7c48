import type { Bits } from "../../state/codec.ts";
import type { Inputs } from "../../state/inputs.ts";
import { dim, tokens } from "../formula.ts";
import type { Input, Order, Program } from "./program.ts";

export const example = ({ q, k, v }: Inputs): Input[] =>
  Object.entries({ q, k, v }).map(([name, numbers]) => ({ name, shape: [tokens, dim], numbers }));

export const attention = { kind: "attention", q: "q", k: "k", v: "v", output: true } as const;

export const underMask = (inputs: Inputs, bits: Bits, order?: Order): Program => ({
  inputs: [...example(inputs), { name: "mask", shape: [tokens, tokens], bits }],
  runs: [{ ...attention, mask: "mask", ...(order && { order, output: false }) }],
});

export const formulaProgram = (_step: string, inputs: Inputs): Program => ({
  inputs: example(inputs),
  runs: [attention],
});
