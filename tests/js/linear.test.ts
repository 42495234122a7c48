// Linear attention: feature map elu(x) + 1, causal as running sums.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { checkCausality, linearAttention, repeatKv, zeros } from "softlookup";
import { normalNumbers, uniformNumbers } from "./oracle.js";
import {
  at,
  expectClose,
  expectSameBits,
  expectTensor,
  flat,
  flatBool,
  leavesNothingAlive,
} from "./support.js";
import { flagsThatAreNone, maskCases, optionCases, table, untyped } from "./tables.js";

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
const column = (...values: number[]) => values.map((value) => [value]);
const phi = (x: number) => (x > 0 ? x + 1 : Math.exp(x));

test("by hand: φ(0) = 1, φ(1) = 2, φ(−1) = 1/e", () => {
  const zero = zeros([4, 1]);
  const v = column(1, 2, 3, 4);
  expectTensor(linearAttention(zero, zero, v).output, [4, 1], [2.5, 2.5, 2.5, 2.5]);
  expectTensor(linearAttention(zero, zero, v, { causal: true }).output, [4, 1], [1, 1.5, 2, 2.5]);
  expectTensor(linearAttention(column(5), column(1, -1), column(1, 0)).output, [1, 1], [0.844638]);
  expectTensor(linearAttention(column(0), column(0, 0), column(1, 3), { eps: 2 }).output, [1, 1], [1]);
});

test.each([NaN, Infinity, -Infinity])("what a masked key and value hold cannot matter: %s", (rubbish) => {
  const [k, v] = [column(0, rubbish, 0), column(4, rubbish, 6)];
  const keyMask = [true, false, true];
  expectTensor(linearAttention(zeros([3, 1]), k, v, { keyMask }).output, [3, 1], [5, 5, 5]);
  expectTensor(linearAttention(zeros([3, 1]), k, v, { keyMask, causal: true }).output, [3, 1], [4, 4, 5]);
});

test("a divisor of 0 gives 0", () => {
  const zero = zeros([2, 1]);
  const v = column(3, 5);
  expectTensor(linearAttention(zero, zero, v, { keyMask: [false, false] }).output, [2, 1], [0, 0]);
  expectTensor(
    linearAttention(zero, zero, v, { keyMask: [false, true], causal: true }).output,
    [2, 1],
    [0, 5],
  );
  expectTensor(linearAttention(zero, column(-1000, -1000), v).output, [2, 1], [0, 0]);
});

test("query heads read their own key/value head", () => {
  const v = flat([10, 20], 2, 1, 1);
  expectTensor(linearAttention(zeros([4, 1, 1]), zeros([2, 1, 1]), v).output, [4, 1, 1], [10, 10, 20, 20]);
});

test("nothing to look up", () => {
  const one = (B: number, L: number, S: number) =>
    linearAttention(zeros([B, 1, L, 2]), zeros([B, 1, S, 2]), zeros([B, 1, S, 3])).output;
  expectTensor(one(0, 2, 2), [0, 1, 2, 3], []);
  expectTensor(one(1, 0, 2), [1, 1, 0, 3], []);
  expectTensor(one(1, 2, 0), [1, 1, 2, 3], Array<number>(6).fill(0));
});

test("the leak check finds nothing when causal, and something when not", async () => {
  const input = { q: normal(1, 2, 6, 3), k: normal(2, 2, 6, 3), v: normal(3, 2, 6, 2) };
  const right = await checkCausality(({ q, k, v }) => linearAttention(q, k, v, { causal: true }), input);
  expect(right).toMatchObject({ causal: true, verdict: "causal", comparison: "bitwise" });
  const wrong = await checkCausality(({ q, k, v }) => linearAttention(q, k, v), input);
  expect(wrong.verdict).toBe("leak");
});

test("for any sizes and masks it is the sum over pairs, the other way round", () => {
  const size = (max: number) => fc.integer({ min: 1, max });
  fc.assert(
    fc.property(
      fc.record({
        B: size(3),
        Hkv: size(3),
        group: size(3),
        L: size(7),
        S: size(9),
        E: size(5),
        Ev: size(4),
      }),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 0, max: 2 ** 30 }),
      ({ B, Hkv, group, L, S: drawn, E, Ev }, causal, masked, seed) => {
        const S = causal ? L : drawn;
        const H = Hkv * group;
        const [q, k, v] = [
          normal(seed, B, H, L, E),
          normal(seed + 1, B, Hkv, S, E),
          normal(seed + 2, B, Hkv, S, Ev),
        ];
        const uniform = uniformNumbers(seed);
        const keyMask = masked
          ? flatBool(
              Array.from({ length: B * S }, () => uniform() < 0.7),
              B,
              S,
            )
          : undefined;
        const want: number[] = [];
        for (let row = 0; row < B * H * L; row++) {
          const [b, kv, i] = [Math.floor(row / (H * L)), Math.floor(row / L / group), row % L];
          const weights = Array.from({ length: S }, (_, j) => {
            if ((causal && j > i) || keyMask?.data[b * S + j] === 0) {
              return 0;
            }
            return Array.from(
              { length: E },
              (_unused, e) =>
                phi(q.data[row * E + e] as number) * phi(k.data[(kv * S + j) * E + e] as number),
            ).reduce((sum, term) => sum + term, 0);
          });
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          for (let c = 0; c < Ev; c++) {
            const sum = weights.reduce(
              (so, weight, j) => so + weight * (v.data[(kv * S + j) * Ev + c] as number),
              0,
            );
            want.push(total === 0 ? 0 : sum / total);
          }
        }
        const { output } = linearAttention(q, k, v, { causal, keyMask });
        expect(output.shape).toEqual([B, H, L, Ev]);
        expectClose(output.data, want, { abs: 2e-6, rel: 0 });

        expectSameBits(
          linearAttention(q, repeatKv(k, group), repeatKv(v, group), { causal, keyMask }).output,
          output,
        );
        const alone = linearAttention(at(q, 0), at(k, 0), at(v, 0), {
          causal,
          keyMask: keyMask && { data: keyMask.data.slice(0, S), shape: [S] },
        });
        expectSameBits(alone.output, at(output, 0)); // 3-D, and independent of the other rows
      },
    ),
  );
});

describe("bad input", () => {
  const [q, k, v] = [zeros([2, 4]), zeros([3, 4]), zeros([3, 5])];
  const attend = (...args: unknown[]) => untyped(linearAttention)(...args);
  const batched = zeros([2, 1, 3, 1]);
  table(
    [
      ["no arguments", () => attend(), "DTYPE", /^q\b/],
      ["k: text", () => attend(q, "k", v), "DTYPE", /^k\b/],
      ["v: missing", () => attend(q, k), "DTYPE", /^v\b/],
      ["one axis", () => attend([1], [1], [1]), "RANK", /q \[1\].*2 to 4/],
      ["head dims that differ", () => attend(q, zeros([3, 3]), v), "SHAPE", /q \[2, 4\], k \[3, 3\]/],
      ["numbers of keys that differ", () => attend(q, k, zeros([4, 5])), "SHAPE", /k \[3, 4\], v \[4, 5\]/],
      [
        "heads that do not divide",
        () => attend(zeros([5, 1, 4]), zeros([2, 1, 4]), zeros([2, 1, 4])),
        "HEADS",
        /q \[5, 1, 4\]/,
      ],
      ...optionCases((options) => attend(q, k, v, options), {
        causal: { of: [...flagsThatAreNone, ["an alignment", "bottom-right"]] },
        eps: {
          of: [
            ["negative", -1],
            ["NaN", NaN],
            ["infinite", Infinity],
            ["text", "0"],
            ["null", null],
          ],
        },
      }),
      ["causal: L ≠ S", () => attend(q, k, v, { causal: true }), "AMBIGUOUS_CAUSAL", /L = 2.*S = 3/],
      ["options: mask has no meaning", () => attend(q, k, v, { mask: [true] }), "OPTION", /"mask"/],
      ...maskCases("keyMask", (keyMask) => attend(q, k, v, { keyMask }), [2]),
      [
        "keyMask: additive",
        () => attend(q, k, v, { keyMask: flat([0, 0, 0], 3) }),
        "DTYPE",
        /keyMask.*boolean/,
      ],
      [
        "keyMask: [L, S]",
        () => attend(q, k, v, { keyMask: flatBool([1, 1, 1, 1, 1, 1], 2, 3) }),
        "MASK_SHAPE",
        /keyMask \[2, 3\].*\[1, 3\]/,
      ],
      [
        "keyMask: [S] beside a batch",
        () => attend(batched, batched, batched, { keyMask: [true, true, true] }),
        "MASK_SHAPE",
        /keyMask \[3\].*\[2, 3\]/,
      ],
    ],
    () => expectTensor(linearAttention(q, k, v).output, [2, 5], Array<number>(10).fill(0)),
  );
});
