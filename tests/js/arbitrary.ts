// What the property tests draw, the same on every run and every machine.

import fc from "fast-check";
import { expect } from "vitest";
import type { BoolTensor, Tensor } from "softlookup";
import { normalNumbers, uniformNumbers } from "./oracle.js";
import { flat, flatBool } from "./support.js";

const product = (sizes: readonly number[]) => sizes.reduce((total, size) => total * size, 1);
export const range = (n: number) => Array.from({ length: n }, (_, i) => i);

export const normal = (seed: number, ...shape: number[]) =>
  flat(normalNumbers(product(shape), seed), ...shape);

/** A mask of the given shape, about a third of it hidden. */
export function maskOf(
  kind: "boolean" | "additive",
  shape: readonly number[],
  seed: number,
): Tensor | BoolTensor {
  const uniform = uniformNumbers(seed);
  const hidden = range(product(shape)).map(() => uniform() < 0.35);
  const biases = normalNumbers(hidden.length, seed + 1);
  return kind === "boolean"
    ? flatBool(
        hidden.map((hides) => !hides),
        ...shape,
      )
    : flat(
        hidden.map((hides, i) => (hides ? -Infinity : (biases[i] as number))),
        ...shape,
      );
}

export const seeds = fc.integer({ min: 0, max: 2 ** 30 });

export interface MaskForm {
  kind: "boolean" | "additive";
  rank: number;
  ones: boolean[];
}

/** Which of the four axes of the scores a mask has, and which of those are 1. */
export const maskForms: fc.Arbitrary<MaskForm> = fc.record({
  kind: fc.constantFrom("boolean" as const, "additive" as const),
  rank: fc.integer({ min: 0, max: 4 }),
  ones: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
});

export const rubbishes: fc.Arbitrary<(index: number) => number> = fc.oneof(
  fc.constantFrom(NaN, Infinity, -Infinity, 3e38, -3e38).map((value) => () => value),
  seeds.map((seed) => {
    const uniform = uniformNumbers(seed);
    return () => 1000 * (uniform() - 0.5);
  }),
);

/** The same problems on every run and every machine. */
export function check<Args extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Args]: fc.Arbitrary<Args[Index]> },
  property: (...args: Args) => void,
  numRuns = 100,
): void {
  let runs = 0;
  fc.assert(
    fc.property(...arbitraries, (...args) => {
      runs++;
      property(...(args as Args));
    }),
    { numRuns, seed: 2017 },
  );
  expect(runs).toBe(numRuns);
}
