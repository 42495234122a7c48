// What must hold for any sizes, masks and numbers.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  MultiHeadAttention,
  masks,
  mergeHeads,
  scaledDotProductAttention,
  softmax,
  splitHeads,
  type AttentionCallOptions,
  type BoolTensor,
  type CausalAlignment,
  type Tensor,
} from "softlookup";
import { check, maskForms, maskOf, normal, range, rubbishes, seeds, type MaskForm } from "./arbitrary.js";
import { attend, broadcast, isVisible, uniformNumbers, type Bias, type Causality } from "./oracle.js";
import {
  at,
  expectClose,
  expectAgree,
  expectSameBits,
  flat,
  flatBool,
  identityState,
  leavesNothingAlive,
  numbers,
  step,
  take,
} from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const unitScale = { abs: 2e-6, rel: 0 };

interface Problem {
  q: Tensor; // [B, Hq, L, E]
  k: Tensor; // [B, Hkv, S, E]
  v: Tensor; // [B, Hkv, S, Ev]
  mask: Tensor | BoolTensor | undefined;
  causal: CausalAlignment | undefined;
  seed: number;
  extras?: Extras;
}

/** What is not a mask and hides or biases keys all the same, and what is done to scores. */
interface Extras {
  window: number | { left?: number | undefined; right?: number | undefined } | undefined;
  alibiSlopes: Tensor | undefined; // [Hq]
  keyLengths: number[] | undefined; // [B]
  softcap: number | undefined;
  sinks: Tensor | undefined; // [Hq]
  align: CausalAlignment;
}

const sizes = fc.record({
  B: fc.integer({ min: 1, max: 3 }),
  Hkv: fc.integer({ min: 1, max: 3 }),
  group: fc.integer({ min: 1, max: 3 }),
  L: fc.integer({ min: 1, max: 7 }),
  S: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 10, max: 70 })),
  E: fc.integer({ min: 1, max: 19 }),
  Ev: fc.integer({ min: 1, max: 19 }),
});

const problems: fc.Arbitrary<Problem> = fc
  .record({
    size: sizes,
    form: fc.option(maskForms, { nil: undefined }),
    causal: fc.constantFrom(undefined, "top-left" as const, "bottom-right" as const),
    seed: seeds,
  })
  .map(({ size: { B, Hkv, group, L, S, E, Ev }, form, causal, seed }) => {
    const scores = [B, Hkv * group, L, S];
    return {
      q: normal(seed, B, Hkv * group, L, E),
      k: normal(seed + 1, B, Hkv, S, E),
      v: normal(seed + 2, B, Hkv, S, Ev),
      mask:
        form &&
        maskOf(
          form.kind,
          scores.map((size, axis) => (form.ones[axis] ? 1 : size)).slice(4 - form.rank),
          seed + 3,
        ),
      causal,
      seed,
    };
  });

const sides = fc.record({
  left: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
  right: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
});
const form = fc.record({
  window: fc.option(fc.oneof(fc.integer({ min: 1, max: 6 }), sides), { nil: undefined }),
  slopes: fc.boolean(),
  lengths: fc.option(fc.array(fc.nat(), { minLength: 3, maxLength: 3 }), { nil: undefined }),
  softcap: fc.option(fc.constantFrom(0.5, 2, 30), { nil: undefined }),
  sinks: fc.boolean(),
  align: fc.constantFrom("top-left" as const, "bottom-right" as const),
});
/** With a window, ALiBi, key lengths, softcap and sinks, or some of them. */
const extendedProblems: fc.Arbitrary<Problem> = fc
  .tuple(problems, form)
  .map(([problem, { window, slopes, lengths, softcap, sinks, align }]) => {
    const [B, Hq] = problem.q.shape as [number, number];
    const S = problem.k.shape[2] as number;
    const uniform = uniformNumbers(problem.seed + 4);
    const extras = {
      window,
      alibiSlopes: slopes
        ? flat(
            range(Hq).map(() => 0.1 * uniform()),
            Hq,
          )
        : undefined,
      keyLengths: lengths?.slice(0, B).map((length) => length % (S + 1)),
      softcap,
      sinks: sinks ? normal(problem.seed + 5, Hq) : undefined,
      align,
    };
    return { ...problem, extras };
  });
const anyProblems = fc.oneof(problems, extendedProblems);

const maskedProblems = problems.filter(({ mask }) => mask !== undefined) as fc.Arbitrary<
  Problem & { mask: Tensor | BoolTensor }
>;

/** The same problem as the oracle wants it. */
function biasOf({ q, k, mask, causal, extras }: Problem): Bias {
  const [L, S] = [q.shape[2] as number, k.shape[2] as number];
  const causality: Causality = causal ?? "none";
  const { window, alibiSlopes, keyLengths, align } = extras ?? {};
  const { left = Infinity, right = Infinity } =
    typeof window === "number" ? { left: window - 1, right: 0 } : (window ?? {});
  return (b, h, i, j) => {
    const real = keyLengths?.[b] ?? S;
    const position = (causal ?? align) === "bottom-right" ? i + real - L : i;
    const isOutside = j < position - left || j > position + right;
    if (j >= real || isOutside || !isVisible(causality, L, real, i, j)) {
      return -Infinity;
    }
    const slope = alibiSlopes?.data[h] ?? 0;
    const distance = slope === 0 ? 0 : -slope * Math.abs(position - j);
    if (mask === undefined) {
      return distance;
    }
    const element = broadcast(mask, [b, h, i, j]);
    return distance + (mask.data instanceof Float32Array ? element : element === 0 ? -Infinity : 0);
  };
}

/** What the oracle does to scores. */
const formOf = ({ extras }: Problem) => ({ softcap: extras?.softcap, sinks: extras?.sinks?.data });

function run({ q, k, v, mask, causal, extras }: Problem, options: AttentionCallOptions = {}) {
  const { output, weights } = scaledDotProductAttention(q, k, v, {
    ...extras,
    mask,
    causal,
    needWeights: true,
    ...options,
  });
  return { output, weights: weights as Tensor };
}

describe("against attention in float64", () => {
  test("any sizes, masks, alignments and groups, windows, softcap, sinks, ALiBi and key lengths", () => {
    check(
      [anyProblems],
      (problem) => {
        const want = attend(problem.q, problem.k, problem.v, biasOf(problem), formOf(problem));
        const got = run(problem);
        expectClose(got.output.data, want.output, unitScale);
        expectClose(got.weights.data, want.weights, unitScale);
        const { q, k, v, mask, causal, extras } = problem;
        expectSameBits(scaledDotProductAttention(q, k, v, { ...extras, mask, causal }).output, got.output);
        const trace = scaledDotProductAttention.trace(q, k, v, { ...extras, mask, causal });
        expectAgree(step(trace, "output"), got.output);
        expectSameBits(step(trace, "weights"), got.weights);
      },
      400,
    );
  });

  test("any scale", () => {
    check([problems, fc.double({ min: -1, max: 1, noNaN: true })], (problem, given) => {
      const scale = Math.fround(given);
      const want = attend(problem.q, problem.k, problem.v, biasOf(problem), { scale });
      expectClose(run(problem, { scale }).output.data, want.output, { abs: 5e-6, rel: 0 });
    });
  });

  test("the weights of a row sum to 1, or to 0 when it has no key", () => {
    check([problems], (problem) => {
      const { weights } = run(problem);
      const [B, H, L, S] = weights.shape as [number, number, number, number];
      const bias = biasOf(problem);
      for (let row = 0; row < B * H * L; row++) {
        const [b, h, i] = [Math.floor(row / (H * L)), Math.floor(row / L) % H, row % L];
        const hidden = range(S).map((j) => bias(b, h, i, j) === -Infinity);
        const own = weights.data.slice(row * S, (row + 1) * S);
        const sum = own.reduce((total, weight) => total + weight, 0);
        expectClose([sum], [hidden.every(Boolean) ? 0 : 1], unitScale);
        expect(own.filter((weight, j) => hidden[j] && weight !== 0).length).toBe(0);
      }
    });
  });

  test("softmax of the trace's masked scores gives the trace's weights", () => {
    check([problems], ({ q, k, v, mask, causal }) => {
      const trace = scaledDotProductAttention.trace(q, k, v, { mask, causal });
      expectSameBits(softmax(step(trace, "masked")), step(trace, "weights"));
      expectSameBits(softmax(step(trace, "scaled"), { mask, causal }), step(trace, "weights"));
    });
  });
});

/** The rows 0 … end − 1 of the third axis of four. */
const firstRows = ({ data, shape }: Tensor, end: number): Tensor => {
  const [B, H, L, E] = shape as [number, number, number, number];
  return flat(
    range(B * H).flatMap((bh) => Array.from(data.slice(bh * L * E, (bh * L + end) * E))),
    B,
    H,
    end,
    E,
  );
};

/** The tensor with other numbers in the rows from `first` on of the third axis of four. */
const withRubbish = ({ data, shape }: Tensor, first: number, rubbish: (index: number) => number): Tensor => {
  const [, , L, E] = shape as [number, number, number, number];
  return flat(
    data.map((value, index) => (Math.floor(index / E) % L >= first ? rubbish(index) : value)),
    ...shape,
  );
};

describe("what cannot matter changes no bit", () => {
  const squares = fc.record({
    size: sizes,
    seed: seeds,
    form: fc.option(maskForms, { nil: undefined }),
    extras: fc.record({
      window: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      softcap: fc.option(fc.constantFrom(0.5, 30), { nil: undefined }),
      alibi: fc.boolean(),
      sinks: fc.boolean(),
    }),
  });

  test("rows 0 … t of a causal result, whatever comes after t", () => {
    check(
      [squares, fc.nat({ max: 6 }), rubbishes],
      ({ size: { B, Hkv, group, L, E, Ev }, seed, form, extras }, cut, rubbish) => {
        const t = cut % L;
        const [q, k, v] = [
          normal(seed, B, Hkv * group, L, E),
          normal(seed + 1, B, Hkv, L, E),
          normal(seed + 2, B, Hkv, L, Ev),
        ];
        const mask =
          form &&
          maskOf(
            form.kind,
            [B, Hkv * group, L, L].map((n, axis) => (form.ones[axis] ? 1 : n)),
            seed,
          );
        for (const needWeights of [false, true]) {
          const options = {
            causal: true,
            mask,
            needWeights,
            window: extras.window,
            softcap: extras.softcap,
            alibiSlopes: extras.alibi ? normal(seed + 3, Hkv * group) : undefined,
            sinks: extras.sinks ? normal(seed + 4, Hkv * group) : undefined,
          };
          const whole = scaledDotProductAttention(q, k, v, options);
          const other = scaledDotProductAttention(
            withRubbish(q, t + 1, rubbish),
            withRubbish(k, t + 1, rubbish),
            withRubbish(v, t + 1, rubbish),
            options,
          );
          expectSameBits(firstRows(other.output, t + 1), firstRows(whole.output, t + 1));
          if (needWeights) {
            expectSameBits(
              firstRows(other.weights as Tensor, t + 1),
              firstRows(whole.weights as Tensor, t + 1),
            );
          }
        }
      },
    );
  });

  test("the same through a multi-head attention", () => {
    using attention = new MultiHeadAttention({ embedDim: 6, numHeads: 3 });
    attention.loadStateDict({
      in_proj_weight: normal(1, 18, 6),
      in_proj_bias: normal(2, 18),
      "out_proj.weight": normal(3, 6, 6),
      "out_proj.bias": normal(4, 6),
    });
    const dims = fc.record({ B: fc.integer({ min: 1, max: 3 }), L: fc.integer({ min: 1, max: 8 }) });
    check([dims, seeds, fc.nat({ max: 7 }), rubbishes], ({ B, L }, seed, cut, rubbish) => {
      const t = cut % L;
      const x = normal(seed, B, L, 6);
      const four = ({ data, shape: [n, ...rest] }: Tensor): Tensor => ({
        data,
        shape: [n as number, 1, ...rest],
      });
      const other = withRubbish(four(x), t + 1, rubbish);
      const changed = { data: other.data, shape: x.shape };
      const keyMask = maskOf("boolean", [B, L], seed + 1);
      for (const needWeights of [false, true]) {
        const options = { causal: true, keyMask, needWeights };
        expectSameBits(
          firstRows(four(attention.forward(changed, changed, changed, options).output), t + 1),
          firstRows(four(attention.forward(x, x, x, options).output), t + 1),
        );
      }
    });
  });

  test("a key that a row does not see", () => {
    check(
      [anyProblems, fc.nat(), rubbishes],
      (problem, pick, rubbish) => {
        const S = problem.k.shape[2] as number;
        const key = pick % S;
        const at = ({ data, shape }: Tensor): Tensor => {
          const width = shape[3] as number;
          return flat(
            data.map((value, index) => (Math.floor(index / width) % S === key ? rubbish(index) : value)),
            ...shape,
          );
        };
        const [want, got] = [run(problem), run({ ...problem, k: at(problem.k), v: at(problem.v) })];
        const [B, H, L, Ev] = want.output.shape as [number, number, number, number];
        const bias = biasOf(problem);
        for (let row = 0; row < B * H * L; row++) {
          if (bias(Math.floor(row / (H * L)), Math.floor(row / L) % H, row % L, key) !== -Infinity) {
            continue;
          }
          const own = (tensor: Tensor, width: number) =>
            flat(tensor.data.slice(row * width, (row + 1) * width), width);
          expectSameBits(own(got.output, Ev), own(want.output, Ev));
          expectSameBits(own(got.weights, S), own(want.weights, S));
        }
      },
      300,
    );
  });

  test("the other samples of the batch", () => {
    check([anyProblems], (problem) => {
      const { q, k, v, mask, causal, extras } = problem;
      const whole = run(problem);
      for (let b = 0; b < (q.shape[0] as number); b++) {
        const one = (tensor: Tensor) => take(tensor, [b]);
        const ownMask = mask && mask.shape.length === 4 && mask.shape[0] !== 1 ? rowOfBatch(mask, b) : mask;
        const ownExtras = extras && { ...extras, keyLengths: extras.keyLengths?.slice(b, b + 1) };
        const own = { ...problem, q: one(q), k: one(k), v: one(v), mask: ownMask, causal };
        const alone = run(ownExtras ? { ...own, extras: ownExtras } : own);
        expectSameBits(alone.output, one(whole.output));
        expectSameBits(alone.weights, one(whole.weights));
      }
    });
  });

  test("keys that are padding: left out or not, within rounding", () => {
    const padded = fc.record({ problem: problems, real: fc.nat(), rubbish: rubbishes });
    check([padded], ({ problem: { q, k, v }, real: drawn, rubbish }) => {
      const S = k.shape[2] as number;
      const real = drawn % (S + 1);
      const lengths = Array<number>(k.shape[0] as number).fill(real);
      const want = scaledDotProductAttention(q, firstRows(k, real), firstRows(v, real)).output;
      const [dirtyK, dirtyV] = [withRubbish(k, real, rubbish), withRubbish(v, real, rubbish)];
      const [byLength, byMask] = [{ keyLengths: lengths }, { mask: masks.padding(lengths, S) }].map(
        (options) => scaledDotProductAttention(q, dirtyK, dirtyV, options).output,
      ) as [Tensor, Tensor];
      expectClose(byLength.data, numbers(want), unitScale);
      expectSameBits(byMask, byLength);
      // On the left it is the same with the keys turned round.
      const reversed = range(S).reverse();
      const left = scaledDotProductAttention(q, takeRows(dirtyK, reversed), takeRows(dirtyV, reversed), {
        mask: masks.padding(lengths, S, { side: "left" }),
      }).output;
      expectClose(left.data, numbers(want), unitScale);
    });
  });

  test("leading axes of 1", () => {
    check([problems], ({ q, k, v, causal }) => {
      const first = (tensor: Tensor) => at(at(tensor, 0), 0);
      const [two, three] = [
        scaledDotProductAttention(first(q), first(k), first(v), { causal }),
        scaledDotProductAttention(at(q, 0), at(k, 0), at(v, 0), { causal }),
      ];
      const four = scaledDotProductAttention(q, k, v, { causal });
      expectSameBits(two.output, first(four.output));
      expectSameBits(three.output, at(four.output, 0));
    });
  });
});

/** Element b of the first axis, the axis kept. */
function rowOfBatch(mask: Tensor | BoolTensor, b: number): Tensor | BoolTensor {
  const [B, ...rest] = mask.shape as [number, ...number[]];
  const size = mask.data.length / B;
  return { data: mask.data.slice(b * size, (b + 1) * size), shape: [1, ...rest] } as Tensor | BoolTensor;
}

/** 0 … n − 1 in an order that depends on the seed. */
function shuffled(n: number, seed: number): number[] {
  const uniform = uniformNumbers(seed);
  return range(n)
    .map((index) => ({ index, order: uniform() }))
    .sort((a, b) => a.order - b.order)
    .map(({ index }) => index);
}

/** The tensor with the third axis of four in the given order. */
function takeRows({ data, shape }: Tensor, order: readonly number[]): Tensor {
  const [B, H, , E] = shape as [number, number, number, number];
  const L = shape[2] as number;
  return flat(
    range(B * H).flatMap((bh) =>
      order.flatMap((i) => Array.from(data.slice((bh * L + i) * E, (bh * L + i + 1) * E))),
    ),
    B,
    H,
    order.length,
    E,
  );
}

describe("symmetry", () => {
  test("queries in another order: outputs in that order, to the bit", () => {
    check([problems], (problem) => {
      const { q, k, v, seed } = problem;
      const order = shuffled(q.shape[2] as number, seed);
      const whole = scaledDotProductAttention(q, k, v).output;
      expectSameBits(scaledDotProductAttention(takeRows(q, order), k, v).output, takeRows(whole, order));
    });
  });

  test("keys and values in another order: the same outputs", () => {
    check([problems], (problem) => {
      const { q, k, v, seed } = problem;
      const order = shuffled(k.shape[2] as number, seed);
      const mask = maskOf("additive", [1, 1, 1, order.length], seed + 1) as Tensor;
      const whole = scaledDotProductAttention(q, k, v, { mask }).output;
      const moved = scaledDotProductAttention(q, takeRows(k, order), takeRows(v, order), {
        mask: flat(
          order.map((j) => mask.data[j] as number),
          1,
          1,
          1,
          order.length,
        ),
      }).output;
      expectClose(moved.data, whole.data, unitScale);
    });
  });

  test("samples in another order: outputs in that order, to the bit", () => {
    check([problems], ({ q, k, v, causal, seed }) => {
      const order = shuffled(q.shape[0] as number, seed);
      const whole = scaledDotProductAttention(q, k, v, { causal }).output;
      const moved = scaledDotProductAttention(take(q, order), take(k, order), take(v, order), {
        causal,
      }).output;
      expectSameBits(moved, take(whole, order));
    });
  });

  test("tokens of a multi-head self-attention in another order: outputs in that order", () => {
    using attention = new MultiHeadAttention({ embedDim: 6, numHeads: 2 });
    attention.loadStateDict({
      in_proj_weight: normal(1, 18, 6),
      in_proj_bias: normal(2, 18),
      "out_proj.weight": normal(3, 6, 6),
      "out_proj.bias": normal(4, 6),
    });
    check([fc.integer({ min: 1, max: 9 }), seeds], (L, seed) => {
      const x = normal(seed, L, 6);
      const order = shuffled(L, seed);
      const moved = take(x, order);
      expectClose(
        attention.forward(moved, moved, moved).output.data,
        numbers(take(attention.forward(x, x, x).output, order)),
        { abs: 2e-5, rel: 1e-6 }, // the projections make the inputs larger than unit scale
      );
    });
  });

  test("adding a constant to all scores of a row changes nothing", () => {
    check([problems, fc.double({ min: -50, max: 50, noNaN: true })], ({ q, k, v }, constant) => {
      const mask = flat([constant], 1);
      const [shifted, plain] = [
        run({ q, k, v, mask, causal: undefined, seed: 0 }),
        scaledDotProductAttention(q, k, v),
      ];
      // Scores near 50 keep their last 2⁻¹⁹.
      expectClose(shifted.output.data, plain.output.data, { abs: 1e-4, rel: 0 });
    });
  });
});

describe("masks", () => {
  const forms = fc.record({
    scores: fc.tuple(...[3, 3, 4, 5].map((max) => fc.integer({ min: 1, max }))),
    seed: seeds,
    one: maskForms,
    other: maskForms,
  });
  const make = (form: MaskForm, scores: readonly number[], seed: number) =>
    maskOf(form.kind, scores.map((size, axis) => (form.ones[axis] ? 1 : size)).slice(4 - form.rank), seed);
  const places = (scores: readonly number[]): number[][] =>
    scores.reduce<number[][]>(
      (all, size) => all.flatMap((place) => range(size).map((i) => [...place, i])),
      [[]],
    );
  const additive = (mask: Tensor | BoolTensor, place: readonly number[]) => {
    const element = broadcast(mask, place);
    return mask.data instanceof Float32Array ? element : element === 0 ? -Infinity : 0;
  };

  test("a broadcast mask is the expanded one, to the bit", () => {
    check([maskedProblems], (problem) => {
      const { q, k, mask } = problem;
      const scores = [q.shape[0], q.shape[1], q.shape[2], k.shape[2]] as number[];
      const elements = places(scores).map((place) => broadcast(mask, place));
      const expanded =
        mask.data instanceof Float32Array ? flat(elements, ...scores) : flatBool(elements, ...scores);
      const [want, got] = [run(problem), run({ ...problem, mask: expanded })];
      expectSameBits(got.output, want.output);
      expectSameBits(got.weights, want.weights);
    });
  });

  test("masks.and is the logical and, or the sum", () => {
    check([forms], ({ scores, seed, one, other }) => {
      const [a, b] = [make(one, scores, seed), make(other, scores, seed + 9)];
      const both = masks.and(a, b);
      const isAdditive = one.kind === "additive" || other.kind === "additive";
      expect(both.data).toBeInstanceOf(isAdditive ? Float32Array : Uint8Array);
      expect(both.shape.length).toBe(Math.max(one.rank, other.rank));
      const want = places(scores).map((place) => Math.fround(additive(a, place) + additive(b, place)));
      const got = places(scores).map((place) => additive(both as Tensor, place));
      expectClose(got, want, { abs: 0, rel: 0 });
      const broadcasted = range(both.shape.length).map((axis) =>
        Math.max(a.shape.at(axis - both.shape.length) ?? 1, b.shape.at(axis - both.shape.length) ?? 1),
      );
      expect(both.shape).toEqual(broadcasted);
    });
  });

  test("attention under both is attention under their and", () => {
    check([problems], (problem) => {
      const { q, k, v, mask, seed } = problem;
      const [L, S] = [q.shape[2] as number, k.shape[2] as number];
      const other = maskOf("boolean", [L, S], seed + 7);
      const causal = masks.causal(L, S, "bottom-right");
      const all = mask === undefined ? masks.and(other, causal) : masks.and(mask, other, causal);
      const some = mask === undefined ? other : masks.and(mask, other);
      const [want, got] = [
        scaledDotProductAttention(q, k, v, { mask: some, causal: "bottom-right" }),
        scaledDotProductAttention(q, k, v, { mask: all }),
      ];
      expectSameBits(got.output, want.output);
    });
  });

  test("toAdditive changes no bit of the result", () => {
    check([maskedProblems], (problem) => {
      const mask = masks.toAdditive(problem.mask);
      expect(mask.shape).toEqual(problem.mask.shape);
      expectSameBits(run({ ...problem, mask }).output, run(problem).output);
    });
  });

  test("padding keeps the first or the last keys", () => {
    const lengths = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 4 });
    check([lengths, fc.constantFrom("left" as const, "right" as const)], (given, side) => {
      const mask = masks.padding(given, 6, { side });
      expect(mask.shape).toEqual([given.length, 1, 1, 6]);
      const want = given.flatMap((length) =>
        range(6).map((j) => ((side === "left" ? j >= 6 - length : j < length) ? 1 : 0)),
      );
      expect(Array.from(mask.data)).toEqual(want);
    });
  });

  test("causal is j ≤ i, or j ≤ i + S − L", () => {
    check([fc.nat({ max: 9 }), fc.nat({ max: 9 })], (L, S) => {
      for (const align of ["top-left", "bottom-right"] as const) {
        const mask = masks.causal(L, S, align);
        expect(mask.shape).toEqual([L, S]);
        const want = range(L).flatMap((i) => range(S).map((j) => (isVisible(align, L, S, i, j) ? 1 : 0)));
        expect(Array.from(mask.data)).toEqual(want);
      }
    });
  });
});

describe("heads", () => {
  test("split and merge undo each other", () => {
    const dims = fc.tuple(...[3, 4, 5, 6].map((max) => fc.integer({ min: 1, max })));
    check([dims, seeds], ([B, H, L, E], seed) => {
      const x = normal(seed, B as number, L as number, (H as number) * (E as number));
      const split = splitHeads(x, H as number);
      expect(split.shape).toEqual([B, H, L, E]);
      expectSameBits(mergeHeads(split), x);
      const y = normal(seed, B as number, H as number, L as number, E as number);
      expectSameBits(splitHeads(mergeHeads(y), H as number), y);
    });
  });

  test("grouped queries equal repeated key/value heads, to the bit", () => {
    check([anyProblems], (problem) => {
      const { q, k, v } = problem;
      const [Hq, Hkv] = [q.shape[1] as number, k.shape[1] as number];
      const repeat = (tensor: Tensor): Tensor => {
        const heads = range(Hq).map((h) => Math.floor((h * Hkv) / Hq));
        const samples = range(tensor.shape[0] as number).map((b) => take(at(tensor, b), heads));
        return flat(
          samples.flatMap(({ data }) => Array.from(data)),
          samples.length,
          Hq,
          ...tensor.shape.slice(2),
        );
      };
      const [want, got] = [run({ ...problem, k: repeat(k), v: repeat(v) }), run(problem)];
      expectSameBits(got.output, want.output);
      expectSameBits(got.weights, want.weights);
    });
  });

  test("a multi-head attention with identity projections is attention on split heads", () => {
    const dims = fc.tuple(...[3, 3, 4, 5, 6].map((max) => fc.integer({ min: 1, max })));
    check([dims, seeds], (given, seed) => {
      const [B, H, E, L, S] = given as [number, number, number, number, number];
      using attention = new MultiHeadAttention({ embedDim: H * E, numHeads: H, bias: false });
      attention.loadStateDict(identityState(H * E));
      const [q, k, v] = [
        normal(seed, B, L, H * E),
        normal(seed + 1, B, S, H * E),
        normal(seed + 2, B, S, H * E),
      ];
      const want = scaledDotProductAttention(splitHeads(q, H), splitHeads(k, H), splitHeads(v, H), {
        needWeights: true,
      });
      const got = attention.forward(q, k, v, { needWeights: true, averageWeights: false });
      expectSameBits(got.output, mergeHeads(want.output));
      expectSameBits(got.weights as Tensor, want.weights as Tensor);
    });
  });
});
