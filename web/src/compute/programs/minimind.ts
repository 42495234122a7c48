import { isTyped } from "../../state/fields/minimind.ts";
import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { eps, keepOf, sizesOf } from "../minimind.ts";
import type { Input, Program } from "./program.ts";

/** The forward with the reader's sizes; the cache's step in two calls. */
export function minimindProgram(step: string, inputs: Inputs): Program | undefined {
  const { batch, length, hidden, heads, kvHeads, seed, theta } = sizesOf(inputs);
  const cached = step === "cache";
  const padded = ["scores", "mask", "weights", "values", "home"].includes(step);
  const mask = keepOf(inputs);
  const sizes: readonly Input[] = [
    { name: "batch", value: batch },
    { name: "n", value: length },
    { name: "hidden", value: hidden },
    { name: "heads", value: heads },
    { name: "kv_heads", value: kvHeads },
    { name: "theta", value: theta },
    { name: "eps", value: eps },
    { name: "seed", value: seed },
  ];
  const keep: Input = { name: "keep", shape: mask.shape, bits: bitsOf(mask) };
  return {
    inputs: [...sizes, ...(cached ? [{ name: "past", value: inputs.mmPast }] : padded ? [keep] : [])],
    runs: [{ kind: "minimind", edits: isTyped(hidden) ? inputs.mmTokens : [], cached, padded }],
  };
}
