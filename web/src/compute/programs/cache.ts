import { masks } from "softlookup";
import type { Inputs } from "../../state/inputs.ts";
import { sequence } from "../cache.ts";
import { bitsOf } from "../figure.ts";
import { dim } from "../formula.ts";
import { attention } from "./formula.ts";
import type { Input, Program } from "./program.ts";

/** The triangle that has grown by a row, or the row alone over the cached keys and values. */
export function cacheProgram(step: string, inputs: Inputs): Program | undefined {
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
