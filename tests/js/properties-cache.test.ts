// What must hold for caches and grouped-query attention, however a sequence is cut and padded.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  GroupedQueryAttention,
  KVCache,
  MultiHeadAttention,
  mergeHeads,
  repeatKv,
  scaledDotProductAttention,
  type BoolTensor,
  type GroupedQueryAttentionConfig,
  type Tensor,
} from "softlookup";
import { Attention } from "softlookup/onnx";
import { check, maskOf, normal, range, rubbishes, seeds } from "./arbitrary.js";
import { groupedQuery } from "./oracle.js";
import {
  at,
  bounds,
  expectClose,
  expectAgree,
  expectSameBits,
  flat,
  joined,
  leavesNothingAlive,
  numbers,
  tokensOf,
} from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const unitScale = { abs: 2e-6, rel: 0 };

/** How many real tokens each batch row has in each chunk, and where the padding is. */
interface Cuts {
  counts: number[][]; // [chunks][B]
  side: "left" | "right";
  padding: number; // columns of nothing but padding
}

const cuts = (rows: number): fc.Arbitrary<Cuts> =>
  fc.record({
    counts: fc.array(fc.array(fc.nat({ max: 4 }), { minLength: rows, maxLength: rows }), {
      minLength: 1,
      maxLength: 5,
    }),
    side: fc.constantFrom("left" as const, "right" as const),
    padding: fc.nat({ max: 2 }),
  });

const lengthOf = ({ counts }: Cuts, row: number) =>
  counts.reduce((sum, chunk) => sum + (chunk[row] as number), 0);

/** A chunk [B, H, T, W] of the rows [H, n, W], each from its own token on, padded with rubbish. */
function placed(
  rows: readonly Tensor[],
  from: readonly number[],
  counts: readonly number[],
  { side, padding }: Cuts,
  rubbish: (index: number) => number,
): Tensor {
  const T = Math.max(...counts) + padding;
  const parts = rows.map((row, b) => {
    const count = counts[b] as number;
    const real = tokensOf(row, from[b] as number, (from[b] as number) + count);
    const [H, , W] = row.shape as [number, number, number];
    const rest = flat(range(H * (T - count) * W).map(rubbish), H, T - count, W);
    return joined(side === "left" ? [rest, real] : [real, rest]);
  });
  const [H, , W] = (rows[0] as Tensor).shape as [number, number, number];
  return flat(parts.flatMap(numbers), rows.length, H, T, W);
}

/** The real tokens of row b of a chunk [B, H, T, W]: [H, count, W] */
function realTokens(chunk: Tensor, b: number, count: number, side: Cuts["side"]): Tensor {
  const T = chunk.shape[2] as number;
  const first = side === "left" ? T - count : 0;
  return tokensOf(at(chunk, b), first, first + count);
}

/** Feeds rows in chunks and gives back, for each row, what came out for its real tokens. */
function inChunks(
  cut: Cuts,
  sequences: readonly (readonly Tensor[])[],
  rubbish: (index: number) => number,
  feed: (chunks: Tensor[], lengths: number[] | undefined, side: Cuts["side"]) => Tensor,
): Tensor[] {
  const rows = (sequences[0] as readonly Tensor[]).map((_, b) => b);
  const from = rows.map(() => 0);
  const found: Tensor[][] = rows.map(() => []);
  for (const counts of cut.counts) {
    const chunks = sequences.map((sequence) => placed(sequence, from, counts, cut, rubbish));
    const isWhole = cut.padding === 0 && counts.every((count) => count === counts[0]);
    const output = feed(chunks, isWhole ? undefined : counts, cut.side);
    for (const b of rows) {
      found[b]?.push(realTokens(output, b, counts[b] as number, cut.side));
      from[b] = (from[b] as number) + (counts[b] as number);
    }
  }
  return found.map(joined);
}

describe("a cache", () => {
  const problems = fc.integer({ min: 1, max: 3 }).chain((B) =>
    fc.record({
      B: fc.constant(B),
      Hkv: fc.integer({ min: 1, max: 2 }),
      group: fc.integer({ min: 1, max: 3 }),
      E: fc.integer({ min: 1, max: 9 }),
      cut: cuts(B),
      window: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      softcap: fc.option(fc.constantFrom(0.5, 30), { nil: undefined }),
      alibi: fc.boolean(),
      sinks: fc.boolean(),
      seed: seeds,
    }),
  );

  test("fed in chunks, ragged, padded on either side with rubbish, gives the bits of each whole row", () => {
    check(
      [problems, rubbishes],
      ({ B, Hkv, group, E, cut, window, softcap, alibi, sinks, seed }, rubbish) => {
        const H = Hkv * group;
        const draw = (heads: number, offset: number) =>
          range(B).map((b) => normal(seed + 10 * b + offset, heads, lengthOf(cut, b), E));
        const [q, k, v] = [draw(H, 0), draw(Hkv, 1), draw(Hkv, 2)];
        const options = {
          causal: true,
          window,
          softcap,
          alibiSlopes: alibi ? normal(seed + 3, H) : undefined,
          sinks: sinks ? normal(seed + 4, H) : undefined,
        };
        for (const needWeights of [false, true]) {
          using cache = new KVCache({ batch: B, numKvHeads: Hkv, headDim: E, capacity: 20 });
          const got = inChunks(cut, [q, k, v], rubbish, (chunks, lengths, side) => {
            const [cq, ck, cv] = chunks as [Tensor, Tensor, Tensor];
            return scaledDotProductAttention(cq, ck, cv, { ...options, cache, lengths, side, needWeights })
              .output;
          });
          got.forEach((row, b) => {
            const whole = scaledDotProductAttention(q[b] as Tensor, k[b] as Tensor, v[b] as Tensor, options);
            expectSameBits(row, whole.output);
          });
          expect(cache.lengths).toEqual(range(B).map((b) => lengthOf(cut, b)));
        }
      },
      150,
    );
  });

  const evenCuts = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 });
  const length = (chunks: readonly number[]) => chunks.reduce((sum, count) => sum + count, 0);

  test("with a mask over all keys, cut like the sequence", () => {
    const kinds = fc.constantFrom("boolean" as const, "additive" as const);
    check([evenCuts, kinds, fc.boolean(), fc.boolean(), seeds], (chunks, kind, causal, perHead, seed) => {
      const [B, H, L, E] = [2, 2, length(chunks), 3];
      const [q, k, v] = [1, 2, 3].map((offset) => normal(seed + offset, B, H, L, E)) as [
        Tensor,
        Tensor,
        Tensor,
      ];
      // Without causality a query must not look where nothing was yet.
      const drawn = maskOf(kind, [B, perHead ? H : 1, L, L], seed);
      const hidden = kind === "boolean" ? 0 : -Infinity;
      const mask = {
        data: drawn.data.map((element, place) => (place % L > Math.floor(place / L) % L ? hidden : element)),
        shape: drawn.shape,
      } as Tensor | BoolTensor;
      const given = causal ? drawn : mask;
      const whole = scaledDotProductAttention(q, k, v, { causal, mask: given }).output;
      using cache = new KVCache({ batch: B, numKvHeads: H, headDim: E, capacity: L });
      for (const [from, to] of bounds(chunks)) {
        const part = (x: Tensor) => tokensOf(x, from, to);
        const rowsOfMask = {
          data: given.data.filter((_, place) => {
            const [i, j] = [Math.floor(place / L) % L, place % L];
            return i >= from && i < to && j < to;
          }),
          shape: [B, perHead ? H : 1, to - from, to],
        } as Tensor | BoolTensor;
        const { output } = scaledDotProductAttention(part(q), part(k), part(v), {
          causal,
          mask: rowsOfMask,
          cache,
        });
        expectSameBits(output, part(whole));
      }
    });
  });

  test("may forget what a window does not reach any more", () => {
    check([evenCuts, fc.integer({ min: 1, max: 4 }), seeds], (chunks, window, seed) => {
      const [H, L, E] = [2, length(chunks), 3];
      const [q, k, v] = [1, 2, 3].map((offset) => normal(seed + offset, 1, H, L, E)) as [
        Tensor,
        Tensor,
        Tensor,
      ];
      const alibiSlopes = [0.5, 0.1];
      const whole = scaledDotProductAttention(q, k, v, { causal: true, window, alibiSlopes }).output;
      using cache = new KVCache({ batch: 1, numKvHeads: H, headDim: E, capacity: window + 3 });
      for (const [from, to] of bounds(chunks)) {
        cache.dropOldest(Math.max(0, cache.length - (window - 1)));
        const part = (x: Tensor) => tokensOf(x, from, to);
        const { output } = scaledDotProductAttention(part(q), part(k), part(v), {
          causal: true,
          window,
          alibiSlopes,
          cache,
        });
        expectClose(output.data, numbers(part(whole)), unitScale);
      }
    });
  });

  test("append is what attention does with its keys", () => {
    check([evenCuts, seeds], (chunks, seed) => {
      const [L, E] = [length(chunks), 3];
      const [k, v] = [normal(seed, 1, 1, L, E), normal(seed + 1, 1, 1, L, E)];
      const size = { batch: 1, numKvHeads: 1, headDim: E, capacity: L + 1 };
      using appended = new KVCache(size);
      using attended = new KVCache(size);
      for (const [from, to] of bounds(chunks)) {
        const [newK, newV] = [tokensOf(k, from, to), tokensOf(v, from, to)];
        appended.append(newK, newV);
        scaledDotProductAttention(newK, newK, newV, { causal: true, cache: attended });
      }
      const last = normal(seed + 2, 1, 1, 1, E);
      const [one, other] = [appended, attended].map(
        (cache) => scaledDotProductAttention(last, last, last, { cache }).output,
      );
      expectSameBits(one as Tensor, other as Tensor);
    });
  });
});

describe("grouped-query attention", () => {
  const configs = fc
    .record({
      numKvHeads: fc.integer({ min: 1, max: 2 }),
      group: fc.integer({ min: 1, max: 3 }),
      pairs: fc.integer({ min: 1, max: 3 }),
      hiddenSize: fc.integer({ min: 1, max: 7 }),
      qkNorm: fc.boolean(),
      layout: fc.constantFrom(undefined, "half" as const, "interleaved" as const),
      partial: fc.boolean(),
      theta: fc.constantFrom(100, 10000),
    })
    .map(({ numKvHeads, group, pairs, hiddenSize, qkNorm, layout, partial, theta }) => {
      const headDim = 2 * pairs;
      return {
        hiddenSize,
        numHeads: numKvHeads * group,
        numKvHeads,
        headDim,
        qkNorm,
        rope: layout && { layout, theta, dims: partial ? 2 : headDim },
      };
    });
  type Config = GroupedQueryAttentionConfig & { numKvHeads: number; headDim: number };

  function stateOf({ hiddenSize, numHeads, numKvHeads, headDim, qkNorm }: Config, seed: number) {
    // so that what is projected keeps its scale
    const weight = (n: number, out: number, width: number) => {
      const drawn = normal(seed + n, out, width);
      return { data: drawn.data.map((value) => value / Math.sqrt(width)), shape: drawn.shape };
    };
    return {
      "q_proj.weight": weight(1, numHeads * headDim, hiddenSize),
      "k_proj.weight": weight(2, numKvHeads * headDim, hiddenSize),
      "v_proj.weight": weight(3, numKvHeads * headDim, hiddenSize),
      "o_proj.weight": weight(4, hiddenSize, numHeads * headDim),
      ...(qkNorm === true && {
        "q_norm.weight": normal(seed + 5, headDim),
        "k_norm.weight": normal(seed + 6, headDim),
      }),
    };
  }

  function withLayer<Result>(
    config: Config,
    seed: number,
    use: (layer: GroupedQueryAttention) => Result,
  ): Result {
    using layer = new GroupedQueryAttention(config);
    layer.loadStateDict(stateOf(config, seed));
    return use(layer);
  }

  test("is the formula in float64, at any positions", () => {
    check(
      [configs, fc.integer({ min: 0, max: 8 }), fc.nat({ max: 1000 }), seeds],
      (config, L, start, seed) => {
        const x = normal(seed, L, config.hiddenSize);
        const state = stateOf(config, seed);
        const [eps, { rope, headDim }] = [1e-6, config];
        const want = groupedQuery(
          {
            ...config,
            query: state["q_proj.weight"],
            key: state["k_proj.weight"],
            value: state["v_proj.weight"],
            output: state["o_proj.weight"],
            norms:
              state["q_norm.weight"] && state["k_norm.weight"]
                ? { query: state["q_norm.weight"], key: state["k_norm.weight"], eps }
                : undefined,
            rope: rope && {
              ...rope,
              pair: (i) =>
                rope.layout === "half" ? [i, i + (rope.dims ?? headDim) / 2] : [2 * i, 2 * i + 1],
            },
          },
          x,
          start,
        );
        withLayer(config, seed, (layer) => {
          const { output } = layer.forward(x, { positions: start });
          expectClose(output.data, want, { abs: 1e-5, rel: 1e-5 }); // four roundings on the way
          const trace = layer.trace(x, { positions: start });
          expectAgree(trace.steps.at(-1)?.tensor as Tensor, output);
          expectSameBits(layer.forward(x, { positions: start, needWeights: true }).output, output);
        });
      },
    );
  });

  const batches = fc.integer({ min: 1, max: 3 }).chain((B) => cuts(B).map((cut) => ({ B, cut })));

  test("in chunks, ragged, padded on either side with rubbish, gives the bits of each row alone", () => {
    check([configs, batches, seeds, rubbishes], (config, { B, cut }, seed, rubbish) => {
      const { hiddenSize, numKvHeads, headDim } = config;
      const rows = range(B).map((b) => normal(seed + b, 1, lengthOf(cut, b), hiddenSize));
      withLayer(config, seed + 9, (layer) => {
        using cache = new KVCache({ batch: B, numKvHeads, headDim, capacity: 20 });
        const got = inChunks(cut, [rows], rubbish, ([chunk], lengths, side) => {
          const { data, shape } = chunk as Tensor;
          const x = { data, shape: [B, shape[2] as number, hiddenSize] };
          return { data: layer.forward(x, { cache, lengths, side }).output.data, shape };
        });
        got.forEach((row, b) => {
          const alone = layer.forward(at(rows[b] as Tensor, 0)).output;
          expectSameBits(at(row, 0), alone);
        });
      });
    });
  });

  test("padding without a cache: each row as it is alone, within rounding", () => {
    check([configs, batches, seeds, rubbishes], (config, { B, cut }, seed, rubbish) => {
      const counts = range(B).map((b) => lengthOf(cut, b));
      const rows = range(B).map((b) => normal(seed + b, 1, counts[b] as number, config.hiddenSize));
      withLayer(config, seed + 9, (layer) => {
        const { data, shape } = placed(rows, Array<number>(B).fill(0), counts, cut, rubbish);
        const x = { data, shape: [B, shape[2] as number, config.hiddenSize] };
        const { output } = layer.forward(x, { lengths: counts, side: cut.side });
        for (const b of range(B)) {
          const got = realTokens({ data: output.data, shape }, b, counts[b] as number, cut.side);
          const alone = layer.forward(at(rows[b] as Tensor, 0)).output;
          expectClose(got.data, numbers(alone), unitScale);
        }
      });
    });
  });

  test("rows 0 … t keep every bit, whatever comes after t; and so do the other batch rows", () => {
    check(
      [configs, fc.integer({ min: 1, max: 7 }), fc.nat(), seeds, rubbishes],
      (config, L, drawn, seed, rubbish) => {
        const t = drawn % L;
        const x = normal(seed, 2, L, config.hiddenSize);
        const other = joined([
          tokensOf(x, 0, t + 1),
          flat(range(2 * (L - t - 1) * config.hiddenSize).map(rubbish), 2, L - t - 1, config.hiddenSize),
        ]);
        withLayer(config, seed + 1, (layer) => {
          const { output } = layer.forward(x);
          expectSameBits(tokensOf(layer.forward(other).output, 0, t + 1), tokensOf(output, 0, t + 1));
          expectSameBits(layer.forward(at(x, 1)).output, at(output, 1));
        });
      },
    );
  });

  test("equals multi-head attention with repeated key/value heads, to the bit", () => {
    const plain = configs.map((config) => ({
      ...config,
      qkNorm: false,
      rope: undefined,
      hiddenSize: config.numHeads * config.headDim,
    }));
    check([plain, fc.integer({ min: 0, max: 6 }), fc.boolean(), seeds], (config, L, causal, seed) => {
      const { hiddenSize, numHeads, numKvHeads, headDim } = config;
      const x = normal(seed, 2, L, hiddenSize);
      const state = stateOf(config, seed);
      const repeated = ({ data }: Tensor): Tensor => ({
        data: repeatKv({ data, shape: [numKvHeads, headDim, hiddenSize] }, numHeads / numKvHeads).data,
        shape: [hiddenSize, hiddenSize],
      });
      using heads = new MultiHeadAttention({ embedDim: hiddenSize, numHeads, bias: false });
      heads.loadStateDict({
        q_proj_weight: state["q_proj.weight"],
        k_proj_weight: repeated(state["k_proj.weight"]),
        v_proj_weight: repeated(state["v_proj.weight"]),
        "out_proj.weight": state["o_proj.weight"],
      });
      const options = { causal, needWeights: true };
      const want = heads.forward(x, x, x, { ...options, averageWeights: false });
      withLayer(config, seed, (layer) => {
        const got = layer.forward(x, options);
        expectSameBits(got.output, want.output);
        expectSameBits(got.weights as Tensor, want.weights as Tensor);
      });
    });
  });
});

describe("ONNX's Attention", () => {
  test("is the same attention, packed or apart, and in steps with the past handed on", () => {
    const heads = fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 3 }));
    const chunks = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
    check([heads, chunks, fc.integer({ min: 1, max: 5 }), seeds], ([Hkv, group], cut, E, seed) => {
      const [B, H, L] = [2, Hkv * group, cut.reduce((sum, count) => sum + count, 0)];
      const [Q, K, V] = [
        normal(seed, B, H, L, E),
        normal(seed + 1, B, Hkv, L, E),
        normal(seed + 2, B, Hkv, L, E),
      ];
      const whole = scaledDotProductAttention(Q, K, V, { causal: true }).output;
      expectSameBits(Attention({ Q, K, V }, { is_causal: 1 }).Y, whole);
      const packed = { Q: mergeHeads(Q), K: mergeHeads(K), V: mergeHeads(V) };
      const counts = { is_causal: 1 as const, q_num_heads: H, kv_num_heads: Hkv };
      expectSameBits(Attention(packed, counts).Y, mergeHeads(whole));

      let past: { past_key?: Tensor | undefined; past_value?: Tensor | undefined } = {};
      const steps = bounds(cut).map(([from, to]) => {
        const part = (x: Tensor) => tokensOf(x, from, to);
        const empty = { past_key: tokensOf(K, 0, 0), past_value: tokensOf(V, 0, 0) };
        const step = Attention({ Q: part(Q), K: part(K), V: part(V), ...empty, ...past }, { is_causal: 1 });
        past = { past_key: step.present_key, past_value: step.present_value };
        return step.Y;
      });
      expectSameBits(joined(steps), whole);
      expectSameBits(past.past_key as Tensor, K);
      expectSameBits(past.past_value as Tensor, V);
    });
  });
});
