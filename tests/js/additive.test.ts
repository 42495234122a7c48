// Additive attention (Bahdanau): v · tanh(W query + U key + b), softmax, weighted sum.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { additiveAttention, zeros, type AdditiveOptions, type MaskLike, type Tensor } from "softlookup";
import { broadcast, normalNumbers, plainSoftmax, uniformNumbers } from "./oracle.js";
import {
  at,
  expectClose,
  expectSameBits,
  expectTensor,
  flat,
  flatBool,
  leavesNothingAlive,
  numbers,
  step,
} from "./support.js";
import { flagsThatAreNone, maskCases, optionCases, table, untyped, type Case } from "./tables.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const normal = (seed: number, ...shape: number[]) =>
  flat(
    normalNumbers(
      shape.reduce((size, n) => size * n, 1),
      seed,
    ),
    ...shape,
  );

/** W = U = v = 1: the score is tanh(query + key). */
const plain = { W: [[1]], U: [[1]], v: [1] };
const column = (...values: number[]) => values.map((value) => [value]);

test("two keys by hand", () => {
  // tanh(0.5 + 0.5) = 0.761594 and tanh(0.5 − 0.5) = 0
  const { output, weights } = additiveAttention(column(0.5), column(0.5, -0.5), column(1, 0), {
    ...plain,
    needWeights: true,
  });
  expectTensor(weights as Tensor, [1, 2], [0.6817, 0.3183]);
  expectTensor(output, [1, 1], [0.6817]);
});

test("b moves the inside of tanh", () => {
  const trace = additiveAttention.trace(column(0.5), column(0.25), column(1), { ...plain, b: [-0.75] });
  expectTensor(step(trace, "query"), [1, 1], [-0.25]);
  expectTensor(step(trace, "key"), [1, 1], [0.25]);
  expectTensor(step(trace, "scores"), [1, 1], [0]);
});

describe("masks", () => {
  test.each([NaN, Infinity, -Infinity])("what a hidden key and value hold cannot matter: %s", (rubbish) => {
    for (const mask of [[true, false], flat([0, -Infinity], 2)] as MaskLike[]) {
      const { output } = additiveAttention(column(0), column(0, rubbish), column(4, rubbish), {
        ...plain,
        mask,
      });
      expectTensor(output, [1, 1], [4]);
    }
  });

  test("a query without a key is 0, and only it", () => {
    const mask = [
      [false, false],
      [true, false],
    ];
    const options = { ...plain, mask, needWeights: true };
    const { output, weights } = additiveAttention(column(1, 1), column(1, 2), column(3, 5), options);
    expectTensor(output, [2, 1], [0, 3]);
    expectTensor(weights as Tensor, [2, 2], [0, 0, 1, 0]);
  });

  test("[B, L, S] belongs to the batch rows", () => {
    const ones = zeros([2, 1, 1]);
    const value = flat([1, 3, 5, 7], 2, 2, 1);
    const mask = flatBool([1, 0, 0, 1], 2, 1, 2);
    expectTensor(
      additiveAttention(ones, zeros([2, 2, 1]), value, { ...plain, mask }).output,
      [2, 1, 1],
      [1, 7],
    );
  });
});

test("nothing to look up", () => {
  const one = (B: number, L: number, S: number) =>
    additiveAttention(zeros([B, L, 1]), zeros([B, S, 1]), zeros([B, S, 2]), plain).output;
  expectTensor(one(0, 2, 3), [0, 2, 2], []);
  expectTensor(one(1, 0, 3), [1, 0, 2], []);
  expectTensor(one(1, 2, 0), [1, 2, 2], [0, 0, 0, 0]);
});

test("for any sizes and masks it is the formula, and the trace is the computation", () => {
  const size = (max: number) => fc.integer({ min: 1, max });
  fc.assert(
    fc.property(
      fc.record({ B: size(3), L: size(4), S: size(5), A: size(6), Dq: size(4), Dk: size(4), Ev: size(3) }),
      fc.option(fc.array(fc.boolean(), { maxLength: 3 }), { nil: undefined }),
      fc.boolean(),
      fc.integer({ min: 0, max: 2 ** 30 }),
      ({ B, L, S, A, Dq, Dk, Ev }, maskForm, withBias, seed) => {
        const [query, key, value] = [
          normal(seed, B, L, Dq),
          normal(seed + 1, B, S, Dk),
          normal(seed + 2, B, S, Ev),
        ];
        const [W, U, v] = [normal(seed + 3, A, Dq), normal(seed + 4, A, Dk), normal(seed + 5, A)];
        const b = withBias ? normal(seed + 6, A) : undefined;
        const scores = [B, L, S];
        const shape = maskForm && scores.slice(3 - maskForm.length).map((n, i) => (maskForm[i] ? 1 : n));
        const uniform = uniformNumbers(seed);
        const mask = shape && {
          data: Uint8Array.from({ length: shape.reduce((product, n) => product * n, 1) }, () =>
            Number(uniform() < 0.7),
          ),
          shape,
        };
        const options: AdditiveOptions = { W, U, v, b, mask };
        const { output, weights } = additiveAttention(query, key, value, { ...options, needWeights: true });

        const product = (matrix: Tensor, row: number, x: Tensor, begin: number, width: number) =>
          Array.from({ length: width }, (_, e) => (matrix.data[row * width + e] as number) * (x.data[begin + e] as number))
            .reduce((sum, term) => sum + term, 0); // prettier-ignore
        const wantWeights: number[] = [];
        const wantOutput: number[] = [];
        for (let n = 0; n < B; n++) {
          for (let i = 0; i < L; i++) {
            const visible = Array.from({ length: S }, (_, j) => j).filter(
              (j) => mask === undefined || broadcast(mask, [n, i, j]) === 1,
            );
            const row = visible.map((j) =>
              Array.from({ length: A }, (_, a) => {
                const inner =
                  product(W, a, query, (n * L + i) * Dq, Dq) + product(U, a, key, (n * S + j) * Dk, Dk);
                return (v.data[a] as number) * Math.tanh(inner + (b ? (b.data[a] as number) : 0));
              }).reduce((sum, term) => sum + term, 0),
            );
            const found = visible.length === 0 ? [] : plainSoftmax(row);
            const all = Array.from({ length: S }, (_, j) => found[visible.indexOf(j)] ?? 0);
            wantWeights.push(...all);
            for (let c = 0; c < Ev; c++) {
              wantOutput.push(
                all.reduce(
                  (sum, weight, j) => sum + weight * (value.data[(n * S + j) * Ev + c] as number),
                  0,
                ),
              );
            }
          }
        }
        expectClose((weights as Tensor).data, wantWeights, { abs: 3e-6, rel: 0 });
        expectClose(output.data, wantOutput, { abs: 6e-6, rel: 0 });

        expectSameBits(additiveAttention(query, key, value, options).output, output);
        const trace = additiveAttention.trace(query, key, value, options);
        expect(trace.steps.map(({ id }) => id)).toEqual([
          "query",
          "key",
          "scores",
          "masked",
          "rowMax",
          "exp",
          "rowSum",
          "weights",
          "output",
        ]);
        expectSameBits(step(trace, "output"), output);
        expectSameBits(step(trace, "weights"), weights as Tensor);
        expect(step(trace, "query").shape).toEqual([B, L, A]);
        expect(step(trace, "rowMax").shape).toEqual([B, L]);

        if (mask === undefined || mask.shape.length < 3) {
          const alone = additiveAttention(at(query, 0), at(key, 0), at(value, 0), options);
          expectSameBits(alone.output, at(output, 0)); // 2-D, and independent of the other rows
        }
        expect(numbers(output).length).toBe(B * L * Ev);
      },
    ),
  );
});

describe("bad input", () => {
  const [query, key, value] = [zeros([2, 4]), zeros([3, 5]), zeros([3, 6])];
  const good = { W: zeros([7, 4]), U: zeros([7, 5]), v: zeros([7]), b: zeros([7]) };
  describe.each([
    ["the call", (...args: unknown[]) => untyped(additiveAttention)(...args)],
    ["trace", (...args: unknown[]) => untyped(additiveAttention.trace)(...args)],
  ])("%s", (path, attend) => {
    const withOptions = (options: object) => attend(query, key, value, { ...good, ...options });
    const parameters: Case[] = (["W", "U", "v"] as const).flatMap((name): Case[] => [
      [`${name}: missing`, () => withOptions({ [name]: undefined }), "OPTION", RegExp(`^${name} is missing`)],
      [`${name}: null`, () => withOptions({ [name]: null }), "DTYPE", RegExp(`^${name}\\b`)],
      [`${name}: text`, () => withOptions({ [name]: "1" }), "DTYPE", RegExp(`^${name}\\b`)],
      [
        `${name}: three axes`,
        () => withOptions({ [name]: zeros([1, 1, 1]) }),
        "RANK",
        RegExp(`^${name} \\[1, 1, 1\\]`),
      ],
      [
        `${name}: empty`,
        () => withOptions({ [name]: name === "v" ? [] : zeros([0, 4]) }),
        "SHAPE",
        RegExp(`^${name} \\[0`),
      ],
    ]);
    table(
      [
        ["no arguments", () => attend(), "DTYPE", /^query\b/],
        ["query: text", () => attend("q", key, value, good), "DTYPE", /^query\b/],
        ["key: null", () => attend(query, null, value, good), "DTYPE", /^key\b/],
        ["value: missing", () => attend(query, key), "DTYPE", /^value\b/],
        ["one axis", () => attend([1], [1], [1], good), "RANK", /query \[1\].*2 or 3/],
        ["four axes", () => attend(zeros([1, 1, 2, 4]), key, value, good), "RANK", /query \[1, 1, 2, 4\]/],
        ["a last axis of 0", () => attend(zeros([2, 0]), key, value, good), "SHAPE", /query \[2, 0\]/],
        [
          "lengths that differ",
          () => attend(query, key, zeros([4, 6]), good),
          "SHAPE",
          /key \[3, 5\], value \[4, 6\]/,
        ],
        [
          "batches that differ",
          () => attend(zeros([1, 2, 4]), zeros([2, 3, 5]), zeros([1, 3, 6]), good),
          "SHAPE",
          /batch/,
        ],
        ["options: missing", () => attend(query, key, value), "OPTION", /^W is missing/],
        ...parameters,
        ["b: null", () => withOptions({ b: null }), "DTYPE", /^b\b/],
        ["b: another size", () => withOptions({ b: [1] }), "SHAPE", /b \[1\].*\[7\]/],
        ["b: empty", () => withOptions({ b: [] }), "SHAPE", /b \[0\]/],
        [
          "W: the wrong way round",
          () => withOptions({ W: zeros([4, 7]) }),
          "SHAPE",
          /W \[4, 7\].*\[A, Dq\] = \[7, 4\]/,
        ],
        [
          "U: of the query",
          () => withOptions({ U: zeros([7, 4]) }),
          "SHAPE",
          /U \[7, 4\].*\[A, Dk\] = \[7, 5\]/,
        ],
        ["v: another size", () => withOptions({ v: zeros([6]) }), "SHAPE", /W \[7, 4\].*\[6, 4\]/],
        ...optionCases(
          (options) =>
            typeof options === "object" && options
              ? withOptions(options)
              : attend(query, key, value, options),
          { needWeights: { of: path === "trace" ? [["unknown to trace", true]] : flagsThatAreNone } },
        ),
        ...maskCases("mask", (mask) => withOptions({ mask }), [2]),
        [
          "mask: four axes",
          () => withOptions({ mask: flatBool([1], 1, 1, 1, 1) }),
          "MASK_SHAPE",
          /\[B, L, S\]/,
        ],
        ["mask: NaN", () => withOptions({ mask: flat([0, NaN, 0], 3) }), "MASK_VALUE", /mask \[3\]/],
      ],
      () =>
        expectTensor(additiveAttention(query, key, value, good).output, [2, 6], Array<number>(12).fill(0)),
    );
  });
});
