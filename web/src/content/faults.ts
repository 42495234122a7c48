import type { FaultName } from "softlookup";

/** What the leak check can be tried on: the right attention, and every named fault of the package. */
export const faults = [
  "no-mask",
  "mask-after-softmax",
  "diagonal-plus-one",
  "diagonal-minus-one",
  "transposed-mask",
  "finite-sentinel",
  "block-leak",
  "tile-leak",
  "cache-drops-mask",
  "chunk-ignores-past",
  "sequence-mean",
  "one-head-unmasked",
  "one-batch-row-unmasked",
] as const satisfies readonly FaultName[];

export type Fault = (typeof faults)[number];
export type CandidateName = "causal" | Fault;
