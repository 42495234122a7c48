// The key/value cache and grouped-query attention: what goes wrong elsewhere, by hand.

import { describe, expect, test } from "vitest";
import {
  GroupedQueryAttention,
  KVCache,
  randomNormal,
  scaledDotProductAttention,
  type AttentionCallOptions,
  type GroupedQueryAttentionConfig,
  type KVCacheConfig,
  type Tensor,
} from "softlookup";
import { load } from "softlookup/load";
import {
  byHand,
  expectClose,
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  identity,
  leavesNothingAlive,
} from "./support.js";

leavesNothingAlive();

function withCache<Result>(config: Partial<KVCacheConfig>, use: (cache: KVCache) => Result): Result {
  const cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: 8, ...config });
  try {
    return use(cache);
  } finally {
    cache.dispose();
  }
}

function withGroupedQuery<Result>(
  config: GroupedQueryAttentionConfig,
  state: Record<string, Tensor>,
  use: (attention: GroupedQueryAttention) => Result,
): Result {
  const attention = new GroupedQueryAttention(config);
  try {
    attention.loadStateDict(state);
    return use(attention);
  } finally {
    attention.dispose();
  }
}

const tokens = (...v: number[]) => flat(v, 1, 1, v.length, 1);
const zeroTokens = (count: number) => tokens(...Array<number>(count).fill(0));

/** Feeds v in chunks with q = k = 0: each output is the mean of the visible v. */
function means(
  cache: KVCache,
  v: readonly number[],
  chunks: readonly number[],
  options?: AttentionCallOptions,
) {
  let first = 0;
  return chunks.flatMap((count) => {
    const zero = zeroTokens(count);
    const { output } = scaledDotProductAttention(zero, zero, tokens(...v.slice(first, first + count)), {
      causal: true,
      cache,
      ...options,
    });
    first += count;
    return [...output.data];
  });
}

describe("a cached chunk sees the past and not the future", () => {
  test.each([[[2, 2]], [[1, 3]], [[3, 1]], [[1, 1, 1, 1]], [[4]]])("chunks %j", (chunks) => {
    for (const needWeights of [false, true]) {
      const got = withCache({}, (cache) => means(cache, [1, 2, 3, 4], chunks, { needWeights }));
      expectClose(got, [1, 1.5, 2, 2.5], byHand);
    }
  });

  test("random chunks give the bits of the whole", () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([2, 4, 9, 8], seed)) as [Tensor, Tensor, Tensor];
    const whole = scaledDotProductAttention(q, k, v, { causal: true }).output;
    const cut = ({ data }: Tensor, first: number, count: number) =>
      flat(
        Array.from({ length: 8 }, (_, row) => [
          ...data.slice((row * 9 + first) * 8, (row * 9 + first + count) * 8),
        ]).flat(),
        2,
        4,
        count,
        8,
      );
    for (const chunks of [
      [4, 5],
      [1, 7, 1],
      [3, 3, 3],
    ]) {
      withCache({ batch: 2, numKvHeads: 4, headDim: 8, capacity: 9 }, (cache) => {
        let first = 0;
        for (const count of chunks) {
          const { output } = scaledDotProductAttention(
            cut(q, first, count),
            cut(k, first, count),
            cut(v, first, count),
            { causal: true, cache },
          );
          expectSameBits(output, cut(whole, first, count));
          first += count;
        }
      });
    }
  });
});

describe("length and capacity", () => {
  test("too many tokens are refused before anything is written", () => {
    withCache({ capacity: 4 }, (cache) => {
      expectClose(means(cache, [1, 2, 3], [3]), [1, 1.5, 2], byHand);
      expectError(() => means(cache, [9, 9], [2]), "CACHE_FULL", /holds 3 of 4 .* take 2/);
      expect(cache.length).toBe(3);
      expectClose(means(cache, [4], [1]), [2.5], byHand);
      expectError(() => means(cache, [5], [1]), "CACHE_FULL", /holds 4 of 4/);
      expect(cache.lengths).toEqual([4]);
    });
  });

  test("append 0, and capacity 0", () => {
    withCache({ capacity: 0 }, (cache) => {
      expect(means(cache, [], [0])).toEqual([]);
      expect(cache.length).toBe(0);
      expectError(() => means(cache, [1], [1]), "CACHE_FULL", /0 of 0/);
    });
  });

  test("grows on request alone, and keeps what it held", () => {
    withCache({ capacity: 2 }, (cache) => {
      means(cache, [1, 2], [2]);
      expectError(() => cache.grow(1), "OPTION", /below the present 2/);
      cache.grow(3);
      expect(cache.capacity).toBe(3);
      expectClose(means(cache, [6], [1]), [3], byHand);
    });
  });

  test("free slots never reach the output: attention divides by length", () => {
    withCache({ capacity: 8 }, (cache) => {
      expectClose(means(cache, [1, 2, 3], [1, 1, 1]).slice(-1), [2], byHand);
    });
  });

  test.each([NaN, Infinity, -Infinity, 3e38])(
    "not even with %d in them from the sequence before",
    (rubbish) => {
      const spoilt = tokens(...Array<number>(8).fill(rubbish));
      for (const forget of ["reset", "dropOldest"] as const) {
        withCache({ capacity: 8 }, (cache) => {
          cache.append(spoilt, spoilt);
          cache[forget](8);
          expect(cache.length).toBe(0);
          expectClose(means(cache, [1, 2, 3], [2, 1]), [1, 1.5, 2], byHand);
          const zero = zeroTokens(1);
          const open = scaledDotProductAttention(zero, zero, tokens(6), { cache, needWeights: true });
          expectClose(open.output.data, [3], byHand);
          expectClose((open.weights as Tensor).data, [0.25, 0.25, 0.25, 0.25], byHand);
        });
      }
    },
  );

  test("a failed append moves neither length nor position", () => {
    withGroupedQuery(
      { hiddenSize: 2, numHeads: 1, rope: { layout: "half" } },
      {
        "q_proj.weight": identity(2),
        "k_proj.weight": identity(2),
        "v_proj.weight": identity(2),
        "o_proj.weight": identity(2),
      },
      (attention) => {
        withCache({ headDim: 2, capacity: 3 }, (cache) => {
          const x = (count: number) => flat(Array.from({ length: count }, () => [1, 0]).flat(), 1, count, 2);
          attention.forward(x(2), { cache });
          expectError(() => attention.forward(x(2), { cache }), "CACHE_FULL", /holds 2 of 3/);
          expectError(() => attention.forward(x(1), { cache, keyMask: [[true]] }), "MASK_SHAPE", /keyMask/);
          const { weights } = attention.forward(x(1), { cache, needWeights: true });
          expectClose((weights as Tensor).data, [0.17579, 0.34571, 0.4785], byHand);
        });
      },
    );
  });

  test("each query head reads its own key/value head", () => {
    const four = flat([0, 0, 0, 0], 1, 4, 1, 1);
    for (const [values, want] of [
      [
        [10, 20],
        [10, 10, 20, 20],
      ],
      [[7], [7, 7, 7, 7]],
    ] as const) {
      withCache({ numKvHeads: values.length }, (cache) => {
        const heads = flat([...values], 1, values.length, 1, 1);
        for (let step = 0; step < 2; step++) {
          const { output } = scaledDotProductAttention(four, heads, heads, { causal: true, cache });
          expectTensor(output, [1, 4, 1, 1], [...want]);
        }
      });
    }
  });
});

describe("state", () => {
  test("a reset cache has forgotten the sequence before", () => {
    withCache({}, (cache) => {
      means(cache, [9, 9, 9], [3]);
      cache.reset();
      expectClose(means(cache, [1, 3], [2]), [1, 2], byHand);
    });
  });

  test("two caches share nothing", () => {
    withCache({}, (one) =>
      withCache({}, (other) => {
        means(one, [9], [1]);
        expectClose(means(other, [1, 3], [1, 1]), [1, 2], byHand);
        expect([one.length, other.length]).toEqual([1, 2]);
      }),
    );
  });

  test("when attention throws, the cache is as before", () => {
    withCache({}, (cache) => {
      means(cache, [1], [1]);
      const zero = zeroTokens(1);
      const call = () =>
        scaledDotProductAttention(zero, zero, zero, { cache, causal: true, mask: new Uint8Array(5) });
      expectError(call, "MASK_SHAPE", /\[5\]/);
      expect(cache.length).toBe(1);
    });
  });

  test("a disposed cache, and one of another instance", async () => {
    const zero = zeroTokens(1);
    const cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: 1 });
    cache.dispose();
    cache.dispose();
    expectError(() => scaledDotProductAttention(zero, zero, zero, { cache }), "DISPOSED", /KVCache/);
    const other = await load();
    const foreign = new other.KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: 1 });
    expectError(
      () => scaledDotProductAttention(zero, zero, zero, { cache: foreign }),
      "FOREIGN_OBJECT",
      /cache is not a KVCache of this instance/,
    );
    foreign.dispose();
  });
});

describe("rows of different lengths", () => {
  const batch = (...rows: number[][]) => flat(rows.flat(), rows.length, 1, (rows[0] as number[]).length, 1);

  test.each([
    { side: "right" as const, v: batch([1, 3], [5, 99]), real: [0, 1, 2] },
    { side: "left" as const, v: batch([1, 3], [99, 5]), real: [0, 1, 3] },
  ])("padded on the $side", ({ side, v, real }) => {
    withCache({ batch: 2 }, (cache) => {
      const zero = flat([0, 0, 0, 0], 2, 1, 2, 1);
      const { output } = scaledDotProductAttention(zero, zero, v, {
        causal: true,
        cache,
        lengths: [2, 1],
        side,
      });
      expectClose(
        real.map((i) => output.data[i] as number),
        [1, 2, 5],
        byHand,
      );
      expect(cache.lengths).toEqual([2, 1]);
      const one = flat([0, 0], 2, 1, 1, 1);
      const next = scaledDotProductAttention(one, one, batch([8], [7]), { causal: true, cache });
      expectClose(next.output.data, [4, 6], byHand);
      expect(cache.lengths).toEqual([3, 2]);
    });
  });

  test("without causality a short row is not filled up to the longest", () => {
    withCache({ batch: 2 }, (cache) => {
      const zero = flat([0, 0, 0, 0], 2, 1, 2, 1);
      const options = { cache, lengths: [2, 1], needWeights: true };
      const { output, weights } = scaledDotProductAttention(zero, zero, batch([1, 3], [5, 99]), options);
      expectClose(output.data.slice(0, 3), [2, 2, 5], byHand);
      expectClose((weights as Tensor).data.slice(0, 6), [0.5, 0.5, 0.5, 0.5, 1, 0], byHand);
    });
  });

  test("a length for each row moves that row's diagonal", () => {
    const zero = flat([0, 0, 0, 0], 2, 1, 2, 1);
    const keys = flat(Array<number>(8).fill(0), 2, 1, 4, 1);
    const v = flat([1, 2, 3, 4, 1, 2, 3, 4], 2, 1, 4, 1);
    const { output } = scaledDotProductAttention(zero, keys, v, {
      causal: "bottom-right",
      keyLengths: [4, 2],
    });
    expectClose(output.data, [2, 2.5, 1, 1.5], byHand);
  });
});

describe("grouped-query attention", () => {
  const eye = identity(2);
  const rotating = { hiddenSize: 2, numHeads: 1, rope: { layout: "half" as const } };
  /** v hands the tokens' own numbers through; q and k are (1, 0) for each token of the input. */
  const state = { "q_proj.weight": eye, "k_proj.weight": eye, "v_proj.weight": eye, "o_proj.weight": eye };

  test("a decoded token turns by its absolute position, and cached keys only once", () => {
    withGroupedQuery(rotating, state, (attention) => {
      for (const chunks of [[3], [2, 1], [1, 1, 1]]) {
        withCache({ headDim: 2 }, (cache) => {
          let weights: Tensor | undefined;
          for (const count of chunks) {
            const x = flat(Array.from({ length: count }, () => [1, 0]).flat(), 1, count, 2);
            weights = attention.forward(x, { cache, needWeights: true }).weights;
          }
          expectClose((weights as Tensor).data.slice(-3), [0.17579, 0.34571, 0.4785], byHand);
        });
      }
    });
  });

  test("positions go on after old tokens were dropped", () => {
    withGroupedQuery(rotating, state, (attention) => {
      const x = (...angles: number[]) =>
        flat(
          angles.flatMap((a) => [a, 1]),
          1,
          angles.length,
          2,
        );
      withCache({ headDim: 2 }, (cache) => {
        attention.forward(x(3, 1, 2), { cache });
        cache.dropOldest(1);
        expect(cache.lengths).toEqual([2]);
        const kept = attention.forward(x(5), { cache, needWeights: true });
        withCache({ headDim: 2 }, (whole) => {
          attention.forward(x(3, 1, 2), { cache: whole });
          const all = attention.forward(x(5), {
            cache: whole,
            needWeights: true,
            keyMask: [[false, true, true, true]],
          });
          expectSameBits(kept.output, all.output);
          expectClose((kept.weights as Tensor).data, (all.weights as Tensor).data.slice(1), {
            abs: 0,
            rel: 0,
          });
        });
      });
    });
  });

  test("four query heads over two key/value heads", () => {
    // v of key/value head 0 is the token's first number, of head 1 its second.
    const column = (rows: number[][]) => flat(rows.flat(), rows.length, 2);
    const q = column([
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    const k = column([
      [0, 0],
      [0, 0],
    ]);
    const grouped = { hiddenSize: 2, numHeads: 4, numKvHeads: 2, headDim: 1 };
    const o = flat([1, 0, 0, 0, 0, 0, 0, 1], 2, 4); // heads 0 and 3
    const parameters = { "q_proj.weight": q, "k_proj.weight": k, "v_proj.weight": eye, "o_proj.weight": o };
    withGroupedQuery(grouped, parameters, (attention) => {
      const x = flat([10, 20], 1, 1, 2);
      expectTensor(attention.forward(x).output, [1, 1, 2], [10, 20]);
      const trace = attention.trace(x);
      expectClose(
        trace.steps.find(({ id }) => id === "head_out")?.tensor.data ?? [],
        [10, 10, 20, 20],
        byHand,
      );
      withCache({ numKvHeads: 2 }, (cache) => {
        expectTensor(attention.forward(x, { cache }).output, [1, 1, 2], [10, 20]);
      });
    });
  });

  test("a key mask never shortens the output", () => {
    withGroupedQuery({ hiddenSize: 2, numHeads: 1 }, state, (attention) => {
      const x = flat(Array.from({ length: 12 }, (_, token) => [0, token % 6]).flat(), 2, 6, 2);
      const row = [true, true, true, true, false, false];
      const options = { keyMask: [row, row], causal: false };
      const { output, weights } = attention.forward(x, { ...options, needWeights: true });
      expect([output.shape, weights?.shape]).toEqual([
        [2, 6, 2],
        [2, 1, 6, 6],
      ]);
      expectClose(
        (weights as Tensor).data.filter((_, place) => place % 6 > 3),
        Array<number>(24).fill(0),
        byHand,
      );
      expectSameBits(attention.forward(x, options).output, output);
    });
  });

  test("nothing to look up", () => {
    withGroupedQuery(rotating, state, (attention) => {
      expectTensor(attention.forward(flat([], 1, 0, 2)).output, [1, 0, 2], []);
      expectTensor(attention.forward(flat([], 0, 3, 2)).output, [0, 3, 2], []);
      withCache({ headDim: 2 }, (cache) => {
        expectTensor(attention.forward(flat([], 1, 0, 2), { cache }).output, [1, 0, 2], []);
        expect(cache.length).toBe(0);
      });
    });
  });

  test("q/k norm: before RoPE, each head on its own, never v", () => {
    const normed = { ...rotating, qkNorm: { eps: 0 } };
    const weight = flat([2, 1], 2);
    withGroupedQuery(normed, { ...state, "q_norm.weight": weight, "k_norm.weight": weight }, (attention) => {
      const trace = attention.trace(flat([3, 4], 1, 1, 2), { positions: 1 });
      const tensor = (id: string) => trace.steps.find((step) => step.id === id)?.tensor.data ?? [];
      expectClose(tensor("q_rope"), [-0.035092, 2.039306], byHand);
      expectClose(tensor("k_rope"), [-0.035092, 2.039306], byHand);
      expectClose(tensor("xv"), [3, 4], byHand);
    });
  });

  test("parameters: counted, named, and unchanged by a state dict that does not fit", () => {
    const config = {
      hiddenSize: 6,
      numHeads: 3,
      numKvHeads: 1,
      headDim: 4,
      qkNorm: true,
      bias: "qkv" as const,
    };
    const attention = new GroupedQueryAttention(config);
    // 12·6 + 4·6 + 4·6 + 6·12, biases 12 + 4 + 4, norms 2·4
    expect(attention.parameterCount).toBe(220);
    expect([attention.headDim, attention.numKvHeads]).toEqual([4, 1]);
    expectError(() => attention.forward(flat([0, 0, 0, 0, 0, 0], 1, 1, 6)), "STATE_DICT", /loadStateDict/);
    expectError(
      () => attention.loadStateDict({ "q_proj.weight": eye }),
      "SHAPE",
      /q_proj.weight is \[2, 2\], expected \[12, 6\]/,
    );
    expectError(() => attention.loadStateDict({}), "STATE_DICT", /q_proj.weight \[12, 6\] is missing/);
    attention.dispose();
    expectError(() => attention.forward(eye), "DISPOSED", /GroupedQueryAttention/);
    expectError(
      () => new GroupedQueryAttention({ ...config, numKvHeads: 2 }),
      "HEADS",
      /numKvHeads = 2 .* numHeads = 3/,
    );
    expectError(() => new GroupedQueryAttention({ hiddenSize: 5, numHeads: 2 }), "HEADS", /hiddenSize = 5/);
    expectError(
      () => new GroupedQueryAttention({ hiddenSize: 4, numHeads: 2, rope: {} as never }),
      "OPTION",
      /layout .*half.*interleaved/,
    );
  });
});
