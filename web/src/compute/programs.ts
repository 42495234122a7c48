import { masks } from "softlookup";
import type { Place } from "../content/lesson.ts";
import type { Bits } from "../state/codec.ts";
import type { Inputs } from "../state/inputs.ts";
import { sequence } from "./cache.ts";
import { bitsOf } from "./figure.ts";
import { dim, tokens } from "./formula.ts";
import { askerOf } from "./lookup.ts";
import { maskOf } from "./mask-grids.ts";
import { sequences } from "./sequence.ts";

/** An input of a program. */
export type Input = { name: string; shape: readonly [rows: number, cols: number] } & (
  { numbers: readonly number[] } | { bits: Bits }
);

/** When a mask is put on: before the softmax, or (wrongly) after it. */
export type Order = "before" | "after";

/** One run of attention, or of a softmax over scores that are given. Each prints its passes. */
export type Run = { mask?: string; order?: Order } & (
  | { kind: "attention"; q: string; k: string; v: string; output: boolean }
  | { kind: "softmax"; scores: string }
);

/** What a step computes, in no language yet; see export/code.ts. */
export interface Program {
  inputs: readonly Input[];
  runs: readonly Run[];
}

const example = ({ q, k, v }: Inputs): Input[] =>
  Object.entries({ q, k, v }).map(([name, numbers]) => ({ name, shape: [tokens, dim], numbers }));

const attention = { kind: "attention", q: "q", k: "k", v: "v", output: true } as const;

const underMask = (inputs: Inputs, bits: Bits, order?: Order): Program => ({
  inputs: [...example(inputs), { name: "mask", shape: [tokens, tokens], bits }],
  runs: [{ ...attention, mask: "mask", ...(order && { order, output: false }) }],
});

function masksProgram(step: string, inputs: Inputs): Program {
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

/** The sequence as it is and with its future replaced. */
function leakProgram(step: string, inputs: Inputs): Program | undefined {
  const orders: Readonly<Record<string, Order | "none">> = {
    causal: "before",
    "no-mask": "none",
    "after-softmax": "after",
  };
  const order = orders[step];
  if (order === undefined) return undefined;
  const { length, dim: width } = inputs;
  const { original, replaced } = sequences(inputs);
  const bits = bitsOf(masks.causal(length));
  const run = (x: string): Run => ({
    kind: "attention",
    q: x,
    k: x,
    v: x,
    output: true,
    ...(order !== "none" && { mask: "mask", order }),
  });
  return {
    inputs: [
      { name: "x", shape: [length, width], numbers: original },
      { name: "replaced", shape: [length, width], numbers: replaced },
      ...(order === "none" ? [] : [{ name: "mask", shape: [length, length], bits } as const]),
    ],
    runs: [run("x"), run("replaced")],
  };
}

/** C's row of the example under the causal mask. */
function oneTokenProgram(inputs: Inputs): Program {
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

/** The triangle that has grown by a row, or the row alone over the cached keys and values. */
function cacheProgram(step: string, inputs: Inputs): Program | undefined {
  if (step !== "row" && step !== "cached") return undefined;
  const count = inputs.position + 1;
  const { q, k, v } = sequence(inputs);
  const first = step === "cached" ? inputs.position : 0;
  const matrix = (name: string, data: Float32Array, from: number): Input => ({
    name,
    shape: [count - from, dim],
    numbers: [...data.subarray(from * dim, count * dim)],
  });
  const given = [matrix("q", q, first), matrix("k", k, 0), matrix("v", v, 0)];
  if (step === "cached") return { inputs: given, runs: [attention] };
  const bits = bitsOf(masks.causal(count));
  return {
    inputs: [...given, { name: "mask", shape: [count, count], bits }],
    runs: [{ ...attention, mask: "mask" }],
  };
}

/** The computation of a step, where it is one. */
export function programFor({ lesson, step }: Place, inputs: Inputs): Program | undefined {
  switch (lesson) {
    case "lookup":
      return step === "one-token" ? oneTokenProgram(inputs) : undefined;
    case "cache":
      return cacheProgram(step, inputs);
    case "formula":
      return { inputs: example(inputs), runs: [attention] };
    case "masks":
      return masksProgram(step, inputs);
    case "leak":
      return leakProgram(step, inputs);
    default:
      return undefined;
  }
}
