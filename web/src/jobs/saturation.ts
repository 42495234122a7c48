import { moments, randomNormal, rowEntropies, scaledDotProductAttention, softmax } from "softlookup";
import { passes } from "../compute/figure.ts";

/** Means over many queries. */
export interface Sharpness {
  /** Bits. */
  entropy: number;
  largest: number;
}

export interface Saturation {
  dim: number;
  scaled: Sharpness;
  unscaled: Sharpness;
}

/** How sharp softmax is over random keys, with and without 1/√d, for each width. */
export function* saturation(input: {
  dims: readonly number[];
  queries: number;
  keys: number;
  seed: number;
}): Generator<Saturation> {
  for (const dim of input.dims) {
    const q = randomNormal([input.queries, dim], input.seed * 2);
    const k = randomNormal([input.keys, dim], input.seed * 2 + 1);
    const sharpness = (scale?: number): Sharpness => {
      const { weights } = passes(scaledDotProductAttention.trace(q, k, k, { scale }));
      const rows = { data: weights, shape: [input.queries, input.keys] };
      const largest = { data: passes(softmax.trace(rows)).rowMax, shape: [input.queries] };
      return { entropy: moments(rowEntropies(rows)).mean, largest: moments(largest).mean };
    };
    yield { dim, scaled: sharpness(), unscaled: sharpness(1) };
  }
}
