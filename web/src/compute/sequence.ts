import {
  checkCausality,
  type CausalityReport,
  faultyAttention,
  mergeHeads,
  randomNormal,
  scaledDotProductAttention,
  splitHeads,
  type Tensor,
} from "softlookup";
import type { CandidateName } from "../content/faults.ts";
import type { Edit } from "../state/codec.ts";
import type { Inputs } from "../state/inputs.ts";
import { indices, type Move } from "./figure.ts";

/** The sequence X, the same with its future replaced, and a stranger to share a batch with. */
export function sequences({ length, dim, seed, cut, tokens, future }: Inputs) {
  const drawn = randomNormal([2, length, dim], seed).data;
  const half = length * dim;
  const typedOver = (data: readonly number[], edits: readonly Edit[]) =>
    edits.reduce((numbers, { row, col, value }) => numbers.with(row * dim + col, value), data);

  const original = typedOver([...drawn.subarray(0, half)], tokens);
  const stranger = [...drawn.subarray(half)];
  const kept = (cut + 1) * dim;
  const replaced = typedOver([...original.slice(0, kept), ...stranger.slice(kept)], future);
  return { original, replaced, stranger };
}

export function sequenceTensor(data: readonly number[], { length, dim }: Inputs): Tensor {
  return { data: Float32Array.from(data), shape: [length, dim] };
}

/** Self-attention of x by the right function or by one with a fault. */
export function attend(name: CandidateName, x: Tensor): Tensor {
  if (name === "causal") return scaledDotProductAttention(x, x, x, { causal: true }).output;
  if (name !== "one-head-unmasked") return faultyAttention(name, x, x, x);
  const heads = splitHeads(x, 2);
  return mergeHeads(faultyAttention(name, heads, heads, heads));
}

/** The whole leak check. One fault needs two sequences in a batch to show itself. */
export function check(name: CandidateName, inputs: Inputs): Promise<CausalityReport> {
  const { original, stranger } = sequences(inputs);
  const batch = name === "one-batch-row-unmasked" ? [stranger, original] : [original];
  const shape = [batch.length, ...(batch.length > 1 ? [1] : []), inputs.length, inputs.dim];
  return checkCausality((x) => attend(name, x), { data: batch.flat(), shape });
}

/** Did a number change by as much as a bit? Up to the cut that is a leak. */
export function moves(before: ArrayLike<number>, after: ArrayLike<number>, cols: number, cut: number) {
  return (row: number, col: number): Exclude<Move, "wrong"> => {
    const index = row * cols + col;
    if (Object.is(before[index], after[index])) return undefined;
    return row <= cut ? "leak" : "moved";
  };
}

/** Output positions up to the cut that moved when the future was replaced. */
export function movedPositions(name: CandidateName, inputs: Inputs): number[] {
  const { original, replaced } = sequences(inputs);
  const before = attend(name, sequenceTensor(original, inputs));
  const after = attend(name, sequenceTensor(replaced, inputs));
  const move = moves(before.data, after.data, inputs.dim, inputs.cut);
  return indices(inputs.cut + 1).filter((row) =>
    indices(inputs.dim).some((col) => move(row, col) === "leak"),
  );
}
