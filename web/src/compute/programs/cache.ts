import { masks } from "softlookup";
import type { Inputs } from "../../state/inputs.ts";
import { countLengths, sequence, sequenceSeed } from "../cache.ts";
import { bitsOf } from "../figure.ts";
import { dim } from "../formula.ts";
import { attention } from "./formula.ts";
import type { Input, Program } from "./program.ts";

/** The triangle that has grown by a row, or the row alone over the cached keys and values. */
function oneRow(step: "row" | "cached", inputs: Inputs): Program {
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

/** What is measured has no numbers of its own. */
export function cacheProgram(step: string, inputs: Inputs): Program | undefined {
  const { generated, position, chunk } = inputs;
  const n: Input = { name: "n", value: generated };
  const t: Input = { name: "t", value: position };
  const m = (size: number): Input => ({ name: "m", value: size });
  const drawn = ["q", "k", "v"].map((name, nth): Input => ({
    name,
    shape: [generated, dim],
    seed: sequenceSeed(inputs, nth),
  }));
  switch (step) {
    case "row":
    case "cached":
      return oneRow(step, inputs);
    case "mask":
      return { inputs: [n, t, m(1)], runs: [{ kind: "chunkMask" }] };
    case "equal":
      return { inputs: [...drawn, n, m(1)], runs: [{ kind: "decode" }] };
    case "chunks":
      return { inputs: [...drawn, n, t, m(chunk)], runs: [{ kind: "chunkMask" }, { kind: "decode" }] };
    case "count":
      return {
        inputs: [{ name: "d", value: inputs.modelDim }],
        runs: [{ kind: "nextToken", sizes: countLengths }],
      };
    case "memory":
      return {
        inputs: [
          { name: "n", value: inputs.memoryLength },
          { name: "layers", value: inputs.memoryLayers },
          { name: "kv_heads", value: inputs.memoryKvHeads },
          { name: "head_dim", value: inputs.memoryHeadDim },
          { name: "batch", value: inputs.memoryBatch },
          { name: "bytes", value: inputs.memoryBytes },
        ],
        runs: [{ kind: "cacheMemory" }],
      };
    default:
      return undefined;
  }
}
