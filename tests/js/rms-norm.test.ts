// Root mean square norm, alone and before a rotary embedding.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { mergeHeads, rmsNorm, rope, splitHeads, zeros } from "softlookup";
import { normalNumbers } from "./oracle.js";
import { expectClose, expectSameBits, expectTensor, flat, leavesNothingAlive, numbers } from "./support.js";
import { flagsThatAreNone, optionCases, table, untyped } from "./tables.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

test("rows of numbers by hand", () => {
  expectTensor(rmsNorm([3, 4], { eps: 0 }), [2], [0.848528, 1.131371]); // √12.5 = 3.535534
  expectTensor(rmsNorm([[3, 4], [0, 0]]), [2, 2], [0.848528, 1.131371, 0, 0]); // prettier-ignore
  expectTensor(rmsNorm([3, 4], { weight: [2, -1] }), [2], [1.697056, -1.131371]);
  expectTensor(rmsNorm([3, 4], { weight: [1, -2], unitOffset: true }), [2], [1.697056, -1.131371]);
  expectTensor(rmsNorm([3, 4], { eps: 12.5 }), [2], [0.6, 0.8]);
});

test("a row of zeros stays one, with eps 0 too", () => {
  const zero = flat([0, -0, 0], 3);
  expectSameBits(rmsNorm(zero, { eps: 0 }), zero);
  expectSameBits(rmsNorm(zero), zero);
});

test("squares that overflow or vanish in float32", () => {
  expectTensor(rmsNorm([3e30, 4e30]), [2], [0.848528, 1.131371]);
  expectTensor(rmsNorm([3e-30, 4e-30], { eps: 0 }), [2], [0.848528, 1.131371]);
});

describe("q/k norm and rotary embedding", () => {
  const x = [[3, 4]];
  const turn = (tensor: Parameters<typeof rope>[0]) => rope(tensor, { layout: "half", positions: 1 });

  test("the order shows where weights differ", () => {
    const weight = [2, 1];
    expectTensor(turn(rmsNorm(x, { weight, eps: 0 })), [1, 2], [-0.035092, 2.039306]);
    expectTensor(rmsNorm(turn(x), { weight, eps: 0 }), [1, 2], [-0.987108, 1.325294]);
    expectTensor(turn(rmsNorm(x, { weight: [1, 1], eps: 0 })), [1, 2], [-0.493554, 1.325294]);
    expectTensor(rmsNorm(turn(x), { weight: [1, 1], eps: 0 }), [1, 2], [-0.493554, 1.325294]);
  });

  test("per head, not over the whole projection", () => {
    const projection = [[3, 4, 0, 0]];
    const perHead = mergeHeads(rmsNorm(splitHeads(projection, 2), { eps: 0 }));
    expectTensor(perHead, [1, 4], [0.848528, 1.131371, 0, 0]);
    expectTensor(rmsNorm(projection, { eps: 0 }), [1, 4], [1.2, 1.6, 0, 0]);
  });
});

test("for any shape it is the definition", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(1e-6, 1e-5, 0.5),
      fc.boolean(),
      fc.integer({ min: 0, max: 2 ** 30 }),
      (outer, width, eps, unitOffset, seed) => {
        const size = outer.reduce((product, n) => product * n, width);
        const x = flat(normalNumbers(size, seed), ...outer, width);
        const weight = flat(normalNumbers(width, seed + 1), width);
        const want = numbers(x).map((value, i) => {
          const row = numbers(x).slice(i - (i % width), i - (i % width) + width);
          const mean = row.reduce((sum, entry) => sum + entry * entry, 0) / width;
          const factor = (weight.data[i % width] as number) + (unitOffset ? 1 : 0);
          return (value / Math.sqrt(mean + eps)) * factor;
        });
        const y = rmsNorm(x, { weight, eps, unitOffset });
        expect(y.shape).toEqual(x.shape);
        expectClose(y.data, want, { abs: 2e-6, rel: 1e-6 });
      },
    ),
  );
});

describe("bad input", () => {
  const x = zeros([2, 3]);
  const norm = (...args: unknown[]) => untyped(rmsNorm)(...args);
  const withWeight = (weight: unknown) => norm(x, { weight });
  table(
    [
      ["x: missing", () => norm(), "DTYPE", /^x\b/],
      ["x: text", () => norm("x"), "DTYPE", /^x\b/],
      ["x: a number", () => norm(1), "RANK", /^x \[\]/],
      ["x: a last axis of 0", () => norm(zeros([2, 0])), "SHAPE", /^x \[2, 0\]/],
      ["weight: null", () => withWeight(null), "DTYPE", /^weight\b/],
      ["weight: text", () => withWeight("1"), "DTYPE", /^weight\b/],
      ["weight: another size", () => withWeight([1, 2]), "SHAPE", /weight \[2\].*x \[2, 3\]/],
      ["weight: empty", () => withWeight([]), "SHAPE", /weight \[0\]/],
      ["weight: the size of x", () => withWeight(zeros([2, 3])), "RANK", /weight \[2, 3\]/],
      ["weight: a number", () => withWeight(1), "RANK", /weight \[\]/],
      ...optionCases((options) => norm(x, options), {
        eps: {
          of: [
            ["negative", -1],
            ["NaN", NaN],
            ["infinite", Infinity],
            ["text", "0"],
            ["null", null],
          ],
        },
        unitOffset: { of: [...flagsThatAreNone, ["true without a weight", true]] },
      }),
    ],
    () => expectTensor(rmsNorm([3, 4], { eps: 0 }), [2], [0.848528, 1.131371]),
  );
});
