// Long sequences: how exact, and in how much memory.

import { describe, expect, inject, test, vi } from "vitest";
import { KVCache, scaledDotProductAttention, type Tensor } from "softlookup";
import { load } from "softlookup/load";
import { attend, normalNumbers, type Numbers } from "./oracle.js";
import { expectClose, flat, leavesNothingAlive } from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const E = 64;
const random = (tokens: number, seed: number): Tensor =>
  flat(normalNumbers(tokens * E, seed), 1, 1, tokens, E);

/** The rows of [1, 1, n, E]. */
function rowsOf({ data, shape }: Numbers, rows: readonly number[]): Numbers {
  return {
    data: Float64Array.from(
      rows.flatMap((row) => Array.from({ length: E }, (_, e) => data[row * E + e] as number)),
    ),
    shape: [...shape.slice(0, 2), rows.length, E],
  };
}

/** ‖got - want‖ / ‖want‖ */
function distance(got: Numbers, want: Float64Array): number {
  expect(got.data.length).toBe(want.length);
  const norm = (numbers: Float64Array) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));
  return norm(want.map((x, i) => (got.data[i] as number) - x)) / norm(want);
}

describe("relative error (L2) against float64", () => {
  test.each([
    [1024, false, 1.5e-6],
    [1024, true, 1.5e-6],
    [8192, false, 3e-6],
    [8192, true, 3e-6],
  ])("n = %i, causal %s: at most %s", (n, causal, bound) => {
    const [q, k, v] = [random(n, 1), random(n, 2), random(n, 3)];
    const rows = [0, 1, 0.25, 0.5, 0.75, 1].map((part, i) => (i === 1 ? 1 : Math.round(part * (n - 1))));
    const { output } = scaledDotProductAttention(q, k, v, { causal });
    const want = attend(rowsOf(q, rows), k, v, (_b, _h, i, j) =>
      causal && j > (rows[i] as number) ? -Infinity : 0,
    );
    expect(distance(rowsOf(output, rows), want.output)).toBeLessThanOrEqual(bound);
  });

  test("a bit more of an error would be noticed", () => {
    const want = Float64Array.from(normalNumbers(E, 4));
    expect(distance({ data: want.map((x) => x * (1 + 2e-6)), shape: [E] }, want)).toBeGreaterThan(1.5e-6);
  });
});

test("n = 8192 takes at most 24 MiB of WebAssembly memory", async () => {
  const own = await load({ simd: inject("simd") });
  own.scaledDotProductAttention(random(8192, 1), random(8192, 2), random(8192, 3));
  expect(own.memoryUsage().total).toBeLessThanOrEqual(24 * 2 ** 20);
});

test("one token against 65,536", () => {
  const S = 65_536;
  const q = flat([8, ...new Float32Array(E - 1)], 1, 1, 1, E); // times k, over √64: the scores
  const k = flat(new Float32Array(S * E), 1, 1, S, E);
  for (let j = 1; j < S; j += 2) k.data[j * E] = 1; // 0 and 1 by turns
  const v = random(S, 3);
  using cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: E, capacity: S });
  const past = (x: Tensor) => flat(x.data.subarray(0, (S - 1) * E), 1, 1, S - 1, E);
  const last = (x: Tensor) => flat(x.data.subarray((S - 1) * E), 1, 1, 1, E);
  cache.append(past(k), past(v));
  const { output } = scaledDotProductAttention(q, last(k), last(v), { cache, causal: true });
  const want = new Float64Array(E);
  v.data.forEach((x, n) => {
    const weight = (Math.floor(n / E) % 2 === 1 ? Math.E : 1) / ((S / 2) * (1 + Math.E));
    want[n % E] = (want[n % E] as number) + weight * x;
  });
  expectClose(output.data, want, { abs: 2e-6, rel: 0 }); // the contract for numbers of size 1
});
