import { linearAttention, randomNormal, scaledDotProductAttention } from "softlookup";
import { time } from "./time.ts";

export interface AttentionTime {
  length: number;
  /** Milliseconds for one call. */
  full: number;
  windowed: number;
  linear: number;
}

/** What one head costs over longer and longer sequences, in three ways. */
export function* attentionTimes(input: {
  lengths: readonly number[];
  dim: number;
  window: number;
}): Generator<AttentionTime> {
  const { dim, window } = input;
  for (const length of input.lengths) {
    const x = randomNormal([length, dim], 0);
    yield {
      length,
      full: time(() => scaledDotProductAttention(x, x, x)),
      windowed: time(() => scaledDotProductAttention(x, x, x, { causal: true, window })),
      linear: time(() => linearAttention(x, x, x)),
    };
  }
}
