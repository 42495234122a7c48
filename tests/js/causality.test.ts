// The leak check: silent on what is right, and never blind to what is wrong.

import { describe, expect, test, vi } from "vitest";
import {
  GroupedQueryAttention,
  KVCache,
  MultiHeadAttention,
  additiveAttention,
  boolTensor,
  checkCausality,
  faultyAttention,
  linearAttention,
  masks,
  scaledDotProductAttention,
  tensor,
  zeros,
  type AttentionCallOptions,
  type CausalityReport,
  type FaultName,
  type ReplacementMode,
  type Tensor,
  type TensorLike,
} from "softlookup";
import { normalNumbers } from "./oracle.js";
import {
  bounds,
  expectClose,
  expectRejection,
  expectSameBits,
  flat,
  identityState,
  joined,
  leavesNothingAlive,
  numbers,
  tokensOf,
} from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

type Sequences = { q: Tensor; k: Tensor; v: Tensor };

const column = (...data: number[]) => flat(data, data.length, 1);
const read = ({ data }: Tensor, index: number): number => data[index] as number;

/** Independent normal numbers. */
function sequences(shape: readonly number[], keyShape = shape): Sequences {
  const make = (sizes: readonly number[], seed: number) =>
    flat(
      normalNumbers(
        sizes.reduce((product, size) => product * size, 1),
        seed,
      ),
      ...sizes,
    );
  return { q: make(shape, 1), k: make(keyShape, 2), v: make(keyShape, 3) };
}

const causalAttention = ({ q, k, v }: Sequences) => scaledDotProductAttention(q, k, v, { causal: true });

/** q, k and v go through a cache, chunk by chunk. */
function throughCache(
  { q, k, v }: Sequences,
  chunks: readonly number[],
  optionsOf: (past: number, count: number) => AttentionCallOptions = () => ({ causal: true }),
): Tensor {
  const [batch, numKvHeads, capacity, headDim] = k.shape as [number, number, number, number];
  using cache = new KVCache({ batch, numKvHeads, headDim, capacity });
  return joined(
    bounds(chunks).map(([from, to]) => {
      const [queries, keys, values] = [q, k, v].map((x) => tokensOf(x, from, to)) as [Tensor, Tensor, Tensor];
      return scaledDotProductAttention(queries, keys, values, { ...optionsOf(from, to - from), cache })
        .output;
    }),
  );
}

/** The mean of what `group` names, for every position of a column; what a function of a sequence may look like. */
function meanOver(group: (position: number, length: number) => number[]) {
  return (x: Tensor): Tensor => {
    const [length] = x.shape as [number];
    const means = Array.from({ length }, (_, position) => {
      const seen = group(position, length);
      return seen.reduce((sum, i) => sum + read(x, i), 0) / seen.length;
    });
    return column(...means);
  };
}

const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
const meanOfPast = meanOver((position) => range(0, position + 1));
const meanOfAll = meanOver((_, length) => range(0, length));
const meanOfBlock = (size: number) =>
  meanOver((position, length) => {
    const first = position - (position % size);
    return range(first, Math.min(first + size, length));
  });

const cutsOf = (report: CausalityReport) => [...new Set(report.leaks.map(({ cut }) => cut))];

function expectSilence(report: CausalityReport): void {
  expect(report).toMatchObject({
    causal: true,
    verdict: "causal",
    comparison: "bitwise",
    tolerance: 0,
    firstCut: null,
    leaks: [],
    poisonings: [],
  });
  const n = report.length;
  expect(report.influence.shape).toEqual([n, n]);
  const above = numbers(report.influence).filter((_, index) => index % n < Math.floor(index / n));
  expect(above.filter((move) => move !== 0)).toEqual([]);
}

describe("silent on right causal attention", () => {
  test("ours", async () => {
    const report = await checkCausality(causalAttention, sequences([2, 2, 6, 4]));
    expectSilence(report);
    expect(report.length).toBe(6);
    expect(report.blind).toEqual([]);
    // Positive control of the report itself: later outputs do see earlier tokens.
    const influence = numbers(report.influence);
    expect(range(0, 6).flatMap((j) => range(j, 6).map((i) => (influence[j * 6 + i] as number) > 0))).toEqual(
      Array(21).fill(true),
    );
  });

  test.each([
    ["with weights", { causal: true, needWeights: true }],
    ["by a mask", { mask: masks.causal(6) }],
    ["by an additive mask", { mask: masks.toAdditive(masks.causal(6)) }],
    ["aligned top-left", { causal: "top-left" }],
    ["aligned bottom-right", { causal: "bottom-right" }],
  ] as const)("ours, %s", async (_, options) => {
    expectSilence(
      await checkCausality(({ q, k, v }) => scaledDotProductAttention(q, k, v, options), sequences([6, 4])),
    );
  });

  test("behind a promise", async () => {
    const attend = async (input: Sequences) => {
      await Promise.resolve();
      return causalAttention(input);
    };
    expectSilence(await checkCausality(attend, sequences([5, 3])));
  });

  test("grouped queries", async () => {
    expectSilence(await checkCausality(causalAttention, sequences([2, 4, 5, 3], [2, 2, 5, 3])));
    expectSilence(await checkCausality(causalAttention, sequences([4, 5, 3], [1, 5, 3])));
  });

  test("multi-head attention", async () => {
    using attention = new MultiHeadAttention({ embedDim: 4, numHeads: 2, bias: false });
    attention.loadStateDict(identityState(4));
    const x = sequences([2, 5, 4]).q;
    expectSilence(
      await checkCausality((input) => attention.forward(input, input, input, { causal: true }), x),
    );
    const options = { mask: masks.causal(5), needWeights: true };
    expectSilence(await checkCausality((input) => attention.forward(input, input, input, options), x));
    const unmasked = await checkCausality((input) => attention.forward(input, input, input), x);
    expect(unmasked.verdict).toBe("leak");
  });

  test.each([
    ["a window", { window: 3 }],
    ["a window to the left alone", { window: { left: 2 } }],
    ["softcap and sinks", { softcap: 5, sinks: [0.5, -1] }],
    ["ALiBi", { alibiSlopes: [0.5, 0.25] }],
    ["keys padded in one row", { keyLengths: [4, 6] }],
  ])("ours with %s", async (_, options) => {
    expectSilence(
      await checkCausality(
        ({ q, k, v }) => scaledDotProductAttention(q, k, v, { ...options, causal: true }),
        sequences([2, 2, 6, 3]),
      ),
    );
  });

  test.each([[[4, 2]], [[1, 5]], [[2, 1, 3]], [[1, 1, 1, 1, 1, 1]]])(
    "a cache in chunks %j",
    async (chunks) => {
      const input = sequences([2, 4, 6, 3], [2, 2, 6, 3]);
      expectSilence(await checkCausality((x) => throughCache(x, chunks), input));
      expectSameBits(throughCache(input, chunks), causalAttention(input).output);
    },
  );

  test("grouped-query attention with q/k norm and RoPE, with and without cache", async () => {
    using attention = new GroupedQueryAttention({
      hiddenSize: 8,
      numHeads: 4,
      numKvHeads: 2,
      qkNorm: true,
      rope: { layout: "half" },
    });
    const drawn = (seed: number, ...shape: [number, number]) =>
      flat(normalNumbers(shape[0] * shape[1], seed), ...shape);
    attention.loadStateDict({
      "q_proj.weight": drawn(1, 8, 8),
      "k_proj.weight": drawn(2, 4, 8),
      "v_proj.weight": drawn(3, 4, 8),
      "o_proj.weight": drawn(4, 8, 8),
      "q_norm.weight": [1, 2],
      "k_norm.weight": [2, 1],
    });
    const x = sequences([2, 6, 8]).q;
    expectSilence(await checkCausality((input) => attention.forward(input), x));
    for (const chunks of [
      [4, 2],
      [1, 1, 4],
    ]) {
      const decode = (input: Tensor) => {
        using cache = new KVCache({ batch: 2, numKvHeads: 2, headDim: 2, capacity: 6 });
        return joined(
          bounds(chunks).map(([from, to]) => attention.forward(tokensOf(input, from, to), { cache }).output),
        );
      };
      expectSilence(await checkCausality(decode, x));
      expectSameBits(decode(x), attention.forward(x).output);
    }
    const open = await checkCausality((input) => attention.forward(input, { causal: false }), x);
    expect(open.verdict).toBe("leak");
  });

  test("additive and linear attention", async () => {
    const additive = { W: [[1, 2]], U: [[-1, 1]], v: [2], mask: masks.causal(5) };
    expectSilence(
      await checkCausality(({ q, k, v }) => additiveAttention(q, k, v, additive), sequences([2, 5, 2])),
    );
    expectSilence(
      await checkCausality(
        ({ q, k, v }) => linearAttention(q, k, v, { causal: true }),
        sequences([2, 4, 5, 2], [2, 2, 5, 2]),
      ),
    );
  });

  test("a plain one in float64 that shares nothing with ours", async () => {
    const attend = ({ q, k, v }: Sequences) => {
      const [L, E] = q.shape as [number, number];
      const rows = range(0, L).flatMap((i) => {
        const scores = range(0, i + 1).map(
          (j) =>
            range(0, E).reduce((sum, e) => sum + read(q, i * E + e) * read(k, j * E + e), 0) / Math.sqrt(E),
        );
        const max = Math.max(...scores);
        const exponentials = scores.map((score) => Math.exp(score - max));
        const total = exponentials.reduce((sum, value) => sum + value, 0);
        return range(0, E).map((e) =>
          exponentials.reduce((sum, weight, j) => sum + (weight / total) * read(v, j * E + e), 0),
        );
      });
      return { data: Float64Array.from(rows), shape: [L, E] };
    };
    expectSilence(await checkCausality(attend, sequences([6, 4])));
  });

  test("a running mean, the identity and a constant", async () => {
    const x = column(1, 2, 3, 4);
    expectSilence(await checkCausality(meanOfPast, x));
    expectSilence(await checkCausality((input) => input, x));
    const constant = await checkCausality(() => zeros([4, 1]), x);
    expectSilence(constant);
    expect(constant.blind).toEqual([0, 1, 2, 3]);
  });

  test("one token, and none", async () => {
    expectSilence(await checkCausality(causalAttention, sequences([1, 4])));
    expectSilence(await checkCausality((x) => x, zeros([0, 2])));
  });

  test("any seed that the package takes", async () => {
    for (const seed of [0, 1, 12345, 2 ** 31 - 1]) {
      expectSilence(await checkCausality(causalAttention, sequences([4, 2]), { seed }));
    }
  });
});

describe("catches every shipped fault", () => {
  const input = sequences([2, 2, 9, 4]);
  const check = (name: FaultName) => checkCausality(({ q, k, v }) => faultyAttention(name, q, k, v), input);

  test("the list is the documented one", () => {
    expect([...faultyAttention.names].sort()).toEqual(
      [
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
      ].sort(),
    );
  });

  test.each(faultyAttention.names.filter((name) => name !== "diagonal-minus-one"))("%s", async (name) => {
    const report = await check(name);
    expect(report).toMatchObject({ causal: false, verdict: "leak", comparison: "bitwise" });
    expect(report.leaks.length).toBeGreaterThan(0);
    expect(report.firstCut).toBe(Math.min(...cutsOf(report)));
    for (const { cut, positions, size, mode } of report.leaks) {
      expect(positions.length).toBeGreaterThan(0);
      expect(positions.every((position) => position <= cut)).toBe(true);
      expect(size).toBeGreaterThan(0);
      expect(mode).not.toBe("nan");
    }
  });

  test("diagonal-minus-one leaks nothing, but is blind to its own token", async () => {
    const report = await check("diagonal-minus-one");
    expect(report).toMatchObject({ causal: true, verdict: "causal", leaks: [], poisonings: [] });
    // Replacing q as well lets an output notice its own token; k and v alone do not.
    const keysAndValues = await checkCausality(
      ({ q, k, v }) => faultyAttention("diagonal-minus-one", q, k, v),
      input,
      { replace: ["k", "v"] },
    );
    expect(keysAndValues.blind).toEqual(range(0, 9));
    const right = await checkCausality(causalAttention, input, { replace: ["k", "v"] });
    expect(right.blind).toEqual([]);
  });

  test("with the first output that it moves", async () => {
    for (const [name, positions] of [
      ["no-mask", range(0, 8)],
      ["diagonal-plus-one", [7]],
      ["transposed-mask", range(0, 8)],
      ["sequence-mean", range(0, 8)],
    ] as const) {
      const report = await check(name);
      expect(report.firstCut).toBe(0);
      const last = report.leaks.filter(
        ({ cut, mode, magnitude }) => cut === 7 && mode === "large" && magnitude === 100,
      );
      expect(last.map((leak) => leak.positions)).toEqual([positions]);
    }
  });

  test("a leak within blocks of four does not show at the cut between them", async () => {
    const cuts = cutsOf(await check("block-leak"));
    expect(cuts).toEqual([0, 1, 2, 4, 5, 6]);
  });

  test("a leak beyond a tile of four shows in no shorter sequence", async () => {
    const short = await checkCausality(
      ({ q, k, v }) => faultyAttention("tile-leak", q, k, v),
      sequences([2, 2, 4, 4]),
    );
    expectSilence(short);
    const long = await check("tile-leak");
    const influence = numbers(long.influence);
    const reached = range(0, 9).map((j) => range(0, j).filter((i) => (influence[j * 9 + i] as number) > 0));
    expect(reached).toEqual([
      [],
      [],
      [],
      [],
      [0, 1, 2, 3],
      [0, 1, 2, 3],
      [0, 1, 2, 3],
      [0, 1, 2, 3],
      range(0, 8),
    ]);
  });

  test("faults of a cache are what a cache gives that is fed in chunks of four", async () => {
    const twelve = sequences([2, 2, 12, 4]);
    const wrong = {
      "cache-drops-mask": (past: number) => ({ causal: past === 0 }),
      "chunk-ignores-past": (past: number, count: number) => ({
        mask: boolTensor(range(0, count).map((i) => range(0, past + count).map((j) => j >= count || j <= i))),
      }),
    };
    for (const name of ["cache-drops-mask", "chunk-ignores-past"] as const) {
      const decode = (input: Sequences) => throughCache(input, [4, 4, 4], wrong[name]);
      const { q, k, v } = twelve;
      expectClose(decode(twelve).data, numbers(faultyAttention(name, q, k, v)), { abs: 1e-6, rel: 0 });
      const report = await checkCausality(decode, twelve, { modes: ["large"], magnitudes: [100] });
      // The first chunk is right, and at its end, as at the end of any, nothing shows.
      expect([report.verdict, cutsOf(report)]).toEqual(["leak", [4, 5, 6, 8, 9, 10]]);
      const tokenByToken = await checkCausality(
        (input: Sequences) => throughCache(input, Array<number>(12).fill(1), wrong[name]),
        twelve,
        { modes: ["large"], magnitudes: [100] },
      );
      expectSilence(tokenByToken);
    }
  });

  test("a finite sentinel shows only under large scores", async () => {
    const attend = ({ q, k, v }: Sequences) => faultyAttention("finite-sentinel", q, k, v);
    const small = await checkCausality(attend, input, { modes: ["random", "large"], magnitudes: [1] });
    expect(small.leaks).toEqual([]);
    const large = await checkCausality(attend, input, { modes: ["large"], magnitudes: [10000] });
    expect(large.verdict).toBe("leak");
  });
});

describe("(a) a positive control", () => {
  const input = { q: zeros([2, 1]), k: zeros([2, 1]), v: column(1, 3) };
  const options = { modes: ["large"], magnitudes: [100], replace: ["v"] } as const;

  test("without a mask v1 = 3 becomes 103, and row 0 goes from 2 to 52", async () => {
    const attend = ({ q, k, v }: typeof input) => scaledDotProductAttention(q, k, v);
    expect(numbers(attend(input).output)).toEqual([2, 2]);
    const report = await checkCausality(attend, input, options);
    expect(report).toMatchObject({ causal: false, verdict: "leak", firstCut: 0, length: 2, poisonings: [] });
    const plus = report.leaks.filter(({ magnitude }) => magnitude === 100);
    expect(plus).toEqual([{ cut: 0, mode: "large", magnitude: 100, positions: [0], size: 50 }]);
    const minus = report.leaks.filter(({ magnitude }) => magnitude === -100);
    expect(minus).toEqual([{ cut: 0, mode: "large", magnitude: -100, positions: [0], size: 50 }]);
    expect(numbers(report.influence)).toEqual([50, 50, 50, 50]);
  });

  test("with everything replaced too", async () => {
    const report = await checkCausality(({ q, k, v }) => scaledDotProductAttention(q, k, v), input, {
      modes: ["large"],
      magnitudes: [100],
    });
    expect(report.leaks).toContainEqual({ cut: 0, mode: "large", magnitude: 100, positions: [0], size: 50 });
  });

  test("with a mask 1 stays 1", async () => {
    const report = await checkCausality(causalAttention, input, options);
    expectSilence(report);
    // Token 0 moves both outputs, token 1 its own alone.
    expect(numbers(report.influence)).toEqual([100, 50, 0, 50]);
  });
});

describe("(b) every cut", () => {
  const x = column(1, 2, 3, 4);
  const options = { modes: ["large"], magnitudes: [100] } as const;

  test("the mean of a block of four shows inside the block: 2.5 → 52.5", async () => {
    const report = await checkCausality(meanOfBlock(4), x, options);
    const inside = report.leaks.filter(({ cut, magnitude }) => cut === 1 && magnitude === 100);
    expect(inside).toEqual([{ cut: 1, mode: "large", magnitude: 100, positions: [0, 1], size: 50 }]);
    expect(cutsOf(report)).toEqual([0, 1, 2]);
    expect(report.firstCut).toBe(0);
  });

  test("chosen cuts are tried, the others are not", async () => {
    const seen: number[][] = [];
    const attend = (input: Tensor) => {
      seen.push(numbers(input));
      return meanOfBlock(4)(input);
    };
    const report = await checkCausality(attend, x, { ...options, cuts: [1] });
    expect(report.leaks).toContainEqual({
      cut: 1,
      mode: "large",
      magnitude: 100,
      positions: [0, 1],
      size: 50,
    });
    expect(seen).toContainEqual([1, 2, 103, 104]);
    expect(seen).toContainEqual([1, 2, -97, -96]);
    expect(seen).not.toContainEqual([1, 102, 103, 104]);
    expect(report.calls).toBe(seen.length);
  });

  test("after the whole block nothing moves", async () => {
    const eight = column(1, 2, 3, 4, 5, 6, 7, 8);
    const report = await checkCausality(meanOfBlock(4), eight, options);
    expect(cutsOf(report)).toEqual([0, 1, 2, 4, 5, 6]);
    const atTheEnd = await checkCausality(meanOfBlock(4), x, { ...options, cuts: [3] });
    expect(atTheEnd.leaks.filter(({ cut }) => cut === 3)).toEqual([]);
  });
});

describe("(c) keys and values", () => {
  const input = { q: zeros([3, 1]), k: column(1, 2, 3), v: column(1, 3, 5) };
  const attend = ({ q, k, v }: typeof input) => scaledDotProductAttention(q, k, v);

  test("with q = 0 replacing k alone shows nothing", async () => {
    const report = await checkCausality(attend, input, {
      replace: ["k"],
      modes: ["random", "large", "permuted"],
    });
    expectSilence(report);
  });

  test("replacing both shows it", async () => {
    for (const replace of [["k", "v"], ["v"], undefined]) {
      const report = await checkCausality(attend, input, { replace });
      expect(report.verdict).toBe("leak");
    }
  });

  test("what is not to be replaced is left alone", async () => {
    const seen: Sequences[] = [];
    await checkCausality(
      (given: Sequences) => {
        seen.push(given);
        return attend(given);
      },
      input,
      { replace: ["v"] },
    );
    expect(seen.length).toBeGreaterThan(4);
    for (const { q, k } of seen) {
      expect([numbers(q), numbers(k)]).toEqual([
        [0, 0, 0],
        [1, 2, 3],
      ]);
    }
    expect(seen.some(({ v }) => read(v, 2) !== 5)).toBe(true);
  });
});

describe("(d) several sizes", () => {
  // The future key has weight exp(−200), which float32 does not see.
  const input = { q: column(1, 1), k: column(200, 0), v: column(1, 3) };
  const attend = ({ q, k, v }: typeof input) => scaledDotProductAttention(q, k, v);
  const keysAndValues = ["k", "v"];

  test("a small replacement hides the missing mask", async () => {
    const report = await checkCausality(attend, input, {
      modes: ["large"],
      magnitudes: [1],
      replace: keysAndValues,
    });
    expect(report.leaks).toEqual([]);
  });

  test("k1 = 400 turns row 0 to v1", async () => {
    const report = await checkCausality(attend, input, {
      modes: ["large"],
      magnitudes: [1, 400],
      replace: keysAndValues,
    });
    expect(report.verdict).toBe("leak");
    // v1 became 403.
    expect(report.leaks).toContainEqual({ cut: 0, mode: "large", magnitude: 400, positions: [0], size: 402 });
  });

  test("the default sizes find it", async () => {
    expect((await checkCausality(attend, input)).verdict).toBe("leak");
  });
});

describe("(e) to the bit, or with a stated tolerance", () => {
  const x = column(1, 2, 3, 4);
  /** Right, but for a whisper of the last token. */
  const whispers = (input: Tensor) => {
    const output = meanOfPast(input);
    return { data: output.data.map((value) => value + 1e-6 * read(input, 3)), shape: output.shape };
  };
  const options = { modes: ["large"], magnitudes: [100] } as const;

  test("the smallest move counts when bits are compared", async () => {
    const report = await checkCausality(whispers, x, options);
    expect(report).toMatchObject({
      causal: false,
      verdict: "leak",
      comparison: "bitwise",
      tolerance: 0,
      firstCut: 0,
    });
    expect(Math.max(...report.leaks.map(({ size }) => size))).toBeLessThan(2e-4);
  });

  test("a changed sign of zero is a move", async () => {
    const sign = (input: Tensor) => column(read(input, 1) > 2 ? -0 : 0, 0);
    const report = await checkCausality(sign, column(1, 2), options);
    expect(report.verdict).toBe("leak");
    expect(report.leaks).toContainEqual({ cut: 0, mode: "large", magnitude: 100, positions: [0], size: 0 });
    expect(read(report.influence, 2)).toBeGreaterThan(0);
  });

  test("a tolerance allows moves up to it, and says so", async () => {
    const allowed = await checkCausality(whispers, x, { ...options, tolerance: 1e-3 });
    expect(allowed).toMatchObject({
      causal: true,
      verdict: "causal",
      comparison: "tolerance",
      tolerance: 1e-3,
    });
    const refused = await checkCausality(whispers, x, { ...options, tolerance: 1e-5 });
    expect(refused).toMatchObject({
      causal: false,
      verdict: "leak",
      comparison: "tolerance",
      tolerance: 1e-5,
    });
  });

  test("no tolerance swallows NaN", async () => {
    const poisoned = (input: Tensor) => ({
      data: meanOfPast(input).data.map((value) => value + 0 * read(input, 3)),
      shape: [4, 1],
    });
    const report = await checkCausality(poisoned, x, { tolerance: 1e30 });
    expect(report).toMatchObject({ causal: false, verdict: "nan-poisoning", comparison: "tolerance" });
  });
});

describe("(f) NaN poisoning is a verdict of its own", () => {
  /** Right weights, but 0 × NaN is NaN. */
  const multipliesByZero = ({ q, k, v }: Sequences) => {
    const { weights } = scaledDotProductAttention(q, zeros(k.shape), v, { causal: true, needWeights: true });
    const [L, E] = v.shape as [number, number];
    const output = range(0, L).flatMap((i) =>
      range(0, E).map((e) =>
        range(0, L).reduce((sum, j) => sum + read(weights as Tensor, i * L + j) * read(v, j * E + e), 0),
      ),
    );
    return flat(output, L, E);
  };
  const input = sequences([4, 2]);

  test("only NaN moves it", async () => {
    const report = await checkCausality(multipliesByZero, input);
    expect(report).toMatchObject({ causal: false, verdict: "nan-poisoning", leaks: [], firstCut: 0 });
    expect(
      report.poisonings.map(({ cut, mode, magnitude, positions, size }) => ({
        cut,
        mode,
        magnitude,
        positions,
        size,
      })),
    ).toEqual(
      [0, 1, 2].map((cut) => ({
        cut,
        mode: "nan",
        magnitude: null,
        positions: range(0, cut + 1),
        size: Infinity,
      })),
    );
  });

  test("without that mode it is not looked for", async () => {
    expectSilence(await checkCausality(multipliesByZero, input, { modes: ["random", "large", "permuted"] }));
  });

  test("that mode alone finds it, and mistakes a leak for nothing else", async () => {
    const alone = await checkCausality(multipliesByZero, input, { modes: ["nan"] });
    expect(alone.verdict).toBe("nan-poisoning");
    expectSilence(await checkCausality(causalAttention, input, { modes: ["nan"] }));
  });

  test("a leak that NaN shows as well is a leak", async () => {
    const report = await checkCausality(({ q, k, v }) => scaledDotProductAttention(q, k, v), input);
    expect(report.verdict).toBe("leak");
    expect(report.leaks.every(({ mode }) => mode !== "nan")).toBe(true);
    expect(report.poisonings.length).toBeGreaterThan(0);
    expect(report.poisonings.every(({ mode }) => mode === "nan")).toBe(true);
  });
});

describe("(g) a leak that begins late", () => {
  test.each([4, 16, 64])("inside blocks beyond %i keys, at the cuts beside the edge", async (edge) => {
    const length = edge + 3;
    const late = meanOver((position) => (position < edge ? range(0, position + 1) : range(0, length)));
    const x = flat(normalNumbers(length, 5), length, 1);
    const cuts = [edge - 2, edge - 1, edge, edge + 1];
    const report = await checkCausality(late, x, { cuts, modes: ["large"], magnitudes: [100] });
    expect(report.verdict).toBe("leak");
    expect(report.firstCut).toBe(edge);
    expect(cutsOf(report)).toEqual([edge, edge + 1]);
    expect(report.leaks.every(({ positions }) => positions.every((position) => position >= edge))).toBe(true);
  });

  test("ours is silent beyond every edge", async () => {
    const report = await checkCausality(causalAttention, sequences([67, 2]), {
      cuts: [30, 31, 32, 62, 63, 64, 65],
      modes: ["large", "nan"],
      magnitudes: [100],
    });
    expectSilence(report);
  });
});

describe("the function under test", () => {
  const x = column(1, 2, 3);

  test("gets copies: what it does to them disturbs nothing", async () => {
    const vandal = (input: Tensor) => {
      const output = meanOfPast(input);
      input.data.fill(NaN);
      (input.shape as number[]).length = 0;
      return output;
    };
    expectSilence(await checkCausality(vandal, x));
    expect([numbers(x), x.shape]).toEqual([
      [1, 2, 3],
      [3, 1],
    ]);
    const leaking = (input: Tensor) => {
      const output = meanOfAll(input);
      input.data.fill(0);
      return output;
    };
    expect((await checkCausality(leaking, x)).verdict).toBe("leak");
  });

  test("may fill the same output array each time", async () => {
    const reused = new Float32Array(3);
    const intoReused = (fn: (x: Tensor) => Tensor) => (input: Tensor) => {
      reused.set(fn(input).data);
      return { data: reused, shape: [3, 1] };
    };
    const report = await checkCausality(intoReused(meanOfAll), x, { modes: ["large"], magnitudes: [100] });
    expect(report).toMatchObject({ causal: false, verdict: "leak", firstCut: 0 });
    expect(numbers(report.influence).every((move) => Math.abs(move - 100 / 3) < 1e-4)).toBe(true);
    expectSilence(await checkCausality(intoReused(meanOfPast), x));
  });

  test("is checked on the input as it was, whatever the caller does with it meanwhile", async () => {
    const mine = column(1, 2, 3);
    const seen: number[][] = [];
    const pending = checkCausality(async (input) => {
      await Promise.resolve();
      seen.push(numbers(input));
      return meanOfPast(input);
    }, mine);
    mine.data.fill(7);
    expectSilence(await pending);
    expect(seen.slice(0, 2)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("that wavers is refused", async () => {
    let count = 0;
    const wavers = (input: Tensor) => ({
      data: input.data.map((value) => value + count++),
      shape: input.shape,
    });
    await expectRejection(() => checkCausality(wavers, x), "FUNCTION", /\bfn\b.*same input/);
    let calls = 0;
    const barely = (input: Tensor) => ({
      data: input.data.map((value) => value + 1e-6 * (calls % 2)),
      shape: [3, 1],
      calls: calls++,
    });
    await expectRejection(() => checkCausality(barely, x), "FUNCTION", /\bfn\b.*same input/);
  });

  test("that wavers within the tolerance is accepted", async () => {
    let calls = 0;
    const barely = (input: Tensor) => {
      calls++;
      return { data: meanOfPast(input).data.map((value) => value + 1e-6 * (calls % 2)), shape: [3, 1] };
    };
    const report = await checkCausality(barely, x, { tolerance: 1e-4 });
    expect(report).toMatchObject({ causal: true, comparison: "tolerance" });
    expect(report.calls).toBe(calls);
  });

  test("that changes its length or shape is refused", async () => {
    const shorter = (input: Tensor) => flat(input.data.slice(1), 2, 1);
    await expectRejection(() => checkCausality(shorter, x), "FUNCTION", /\bfn\b.*\[2, 1\].*3/);
    let calls = 0;
    const wider = (input: Tensor) => (++calls > 2 ? zeros([3, 2]) : meanOfPast(input));
    await expectRejection(() => checkCausality(wider, x), "FUNCTION", /\[3, 2\].*\[3, 1\]/);
  });

  test.each([
    [
      "throws",
      () => {
        throw new RangeError("mine");
      },
    ],
    ["rejects", () => Promise.reject(new RangeError("mine"))],
  ])("that %s: its own error comes through", async (_, fn: () => unknown) => {
    await expect(checkCausality(fn, x)).rejects.toThrow(RangeError);
    await expect(checkCausality(fn, x)).rejects.toThrow("mine");
  });

  test("that rejects late: its own error comes through", async () => {
    let calls = 0;
    const late = async (input: Tensor) => {
      await Promise.resolve();
      if (++calls === 5) {
        throw new RangeError("mine, late");
      }
      return meanOfPast(input);
    };
    await expect(checkCausality(late, x)).rejects.toThrow("mine, late");
    expect(calls).toBe(5);
  });

  test("may return a tensor, nested numbers, or an object with output", async () => {
    const rows = (input: Tensor) => numbers(meanOfAll(input)).map((value) => [value]);
    for (const fn of [
      meanOfAll,
      rows,
      (input: Tensor) => ({ output: meanOfAll(input) }),
      (input: Tensor) => Promise.resolve({ output: rows(input) }),
      (input: Tensor) => ({ data: Float64Array.from(meanOfAll(input).data), dims: [3, 1] }),
    ]) {
      const report = await checkCausality(fn, x, { modes: ["large"], magnitudes: [100] });
      expect(report.verdict).toBe("leak");
    }
  });

  test("gets what it was given: a tensor or a record of tensors", async () => {
    const seen: unknown[] = [];
    const watch = (input: unknown) => {
      seen.push(input);
      return zeros([2, 1]);
    };
    await checkCausality(watch, [[1], [2]]);
    expect(seen[0]).toEqual({ data: Float32Array.of(1, 2), shape: [2, 1] });
    seen.length = 0;
    await checkCausality(watch, { keys: [[1], [2]], values: { data: Float64Array.of(3, 4), dims: [2, 1] } });
    expect(seen[0]).toEqual({
      keys: { data: Float32Array.of(1, 2), shape: [2, 1] },
      values: { data: Float32Array.of(3, 4), shape: [2, 1] },
    });
  });
});

describe("options", () => {
  test("axis: where the sequence lies", async () => {
    const rows = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const doubled = (input: Tensor) => ({ data: input.data.map((value) => 2 * value), shape: input.shape });
    const leaksAlongRows = (input: Tensor) => {
      const total = (from: number) => read(input, from) + read(input, from + 1) + read(input, from + 2);
      return flat(
        [0, 1, 2, 3, 4, 5].map((i) => total(i - (i % 3))),
        2,
        3,
      );
    };
    for (const axis of [1, -1]) {
      const report = await checkCausality(leaksAlongRows, rows, { axis, modes: ["large"], magnitudes: [1] });
      expect(report).toMatchObject({ verdict: "leak", length: 3, firstCut: 0 });
      expectSilence(await checkCausality(doubled, rows, { axis }));
    }
    for (const axis of [0, -2, undefined]) {
      const report = await checkCausality(leaksAlongRows, rows, { axis });
      expectSilence(report);
      expect(report.length).toBe(2);
    }
  });

  test.each<ReplacementMode>(["random", "large", "permuted", "nan"])(
    "mode %s puts what it says",
    async (mode) => {
      const x = column(1, 2, 3, 4);
      const seen: number[][] = [];
      await checkCausality(
        (input) => {
          seen.push(numbers(input));
          return meanOfPast(input);
        },
        x,
        { modes: [mode], magnitudes: [100], cuts: [1] },
      );
      const changed = seen.filter((data) => data[2] !== 3 && data[3] !== 4 && data[0] === 1 && data[1] === 2);
      const want = {
        random: (data: number[]) =>
          data.slice(2).every((value) => Number.isFinite(value) && Math.abs(value) < 1000),
        large: (data: number[]) =>
          [103, -97].includes(data[2] as number) && [104, -96].includes(data[3] as number),
        permuted: (data: number[]) => data[2] === 4 && data[3] === 3,
        nan: (data: number[]) => data.slice(2).every(Number.isNaN),
      }[mode];
      expect(changed.length).toBe(mode === "large" ? 2 : 1);
      expect(changed.every(want)).toBe(true);
    },
  );

  test("permuted alone finds what depends on the order", async () => {
    const last = (input: Tensor) => column(read(input, 2), read(input, 2), read(input, 2));
    const report = await checkCausality(last, column(1, 2, 3), { modes: ["permuted"] });
    expect(report).toMatchObject({ verdict: "leak", firstCut: 0 });
    expect(report.leaks.every(({ mode, magnitude }) => mode === "permuted" && magnitude === null)).toBe(true);
  });

  test("seed: the same numbers for the same seed, others for another", async () => {
    const replacements = async (seed: number | undefined) => {
      const seen: number[][] = [];
      await checkCausality(
        (input) => {
          seen.push(numbers(input));
          return meanOfPast(input);
        },
        column(1, 2, 3),
        { modes: ["random"], magnitudes: [1], seed },
      );
      return seen;
    };
    expect(await replacements(1)).toEqual(await replacements(1));
    expect(await replacements(undefined)).toEqual(await replacements(undefined));
    expect(await replacements(1)).not.toEqual(await replacements(2));
  });

  test("calls counts the calls of fn", async () => {
    let calls = 0;
    const counted = (input: Sequences) => {
      calls++;
      return causalAttention(input);
    };
    const report = await checkCausality(counted, sequences([4, 2]));
    expect(report.calls).toBe(calls);
    expect(calls).toBeGreaterThan(2 + 3 * 4);
  });
});

test("influence: which token moves which output, and how far", async () => {
  const report = await checkCausality(meanOfPast, column(1, 2, 4), { modes: ["large"], magnitudes: [12] });
  expect(report.influence).toEqual({ data: Float32Array.of(12, 6, 4, 0, 6, 4, 0, 0, 4), shape: [3, 3] });
  const all = await checkCausality(meanOfAll, column(1, 2, 4), { modes: ["large"], magnitudes: [12] });
  expect(all.influence).toEqual({ data: new Float32Array(9).fill(4), shape: [3, 3] });
});

test("the report is made of plain values", async () => {
  const report = await checkCausality(meanOfAll as (x: Tensor) => TensorLike, column(1, 2));
  expect(JSON.parse(JSON.stringify({ ...report, influence: numbers(report.influence) }))).toMatchObject({
    verdict: "leak",
    influence: expect.any(Array),
  });
  expect(structuredClone(report)).toEqual(report);
});
