import { KVCache, randomNormal, scaledDotProductAttention } from "softlookup";

export interface DecodeTime {
  /** Tokens in all, the new one included. */
  length: number;
  /** Milliseconds for one new token. */
  anew: number;
  cached: number;
}

/** Milliseconds of work in a batch: long enough for a clock of 0.1 ms. */
const enough = 20;
/** Tokens that are added to a cache before it is filled afresh. */
const run = 16;

/** Milliseconds for one of `turns` calls in a row, the fastest of three batches; `prepare` is not counted. */
function time(turns: number, prepare: () => void, call: () => unknown): number {
  const batch = () => {
    let spent = 0;
    let calls = 0;
    while (spent < enough) {
      prepare();
      const start = performance.now();
      for (let turn = 0; turn < turns; turn += 1) call();
      spent += performance.now() - start;
      calls += turns;
    }
    return spent / calls;
  };
  return Math.min(batch(), batch(), batch());
}

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
    const nothing = () => undefined;
    const anew = time(1, nothing, () => scaledDotProductAttention(x, x, x, { causal: true }));

    using cache = new KVCache({ batch: 1, numKvHeads: heads, headDim, capacity: length + run });
    const past = randomNormal([1, heads, length - 1, headDim], 2);
    const refill = () => {
      cache.reset();
      cache.append(past, past);
    };
    const cached = time(run, refill, () =>
      scaledDotProductAttention(token, token, token, { causal: true, cache }),
    );
    yield { length, anew, cached };
  }
}
