import { KVCache, randomNormal, scaledDotProductAttention } from "softlookup";
import { time } from "./time.ts";

export interface DecodeTime {
  /** Tokens in all, the new one included. */
  length: number;
  /** Milliseconds for one new token. */
  anew: number;
  cached: number;
}

/** Tokens that are added to a cache before it is filled afresh. */
const run = 16;

/** What one more token costs: attention over everything again, or over the cache. */
export function* decodeTimes(input: {
  lengths: readonly number[];
  heads: number;
  headDim: number;
}): Generator<DecodeTime> {
  const { heads, headDim } = input;
  for (const length of input.lengths) {
    const x = randomNormal([1, heads, length, headDim], 0);
    const token = randomNormal([1, heads, 1, headDim], 1);
    const anew = time(() => scaledDotProductAttention(x, x, x, { causal: true }));

    using cache = new KVCache({ batch: 1, numKvHeads: heads, headDim, capacity: length + run });
    const past = randomNormal([1, heads, length - 1, headDim], 2);
    const refill = () => {
      cache.reset();
      cache.append(past, past);
    };
    const decode = () => scaledDotProductAttention(token, token, token, { causal: true, cache });
    const cached = time(decode, run, refill);
    yield { length, anew, cached };
  }
}
