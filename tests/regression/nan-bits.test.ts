// A NaN beside a NaN of another sign or payload counted as a move, whatever the tolerance.

import { expect, test } from "vitest";
import { checkCausality, type Tensor } from "softlookup";
import { flat, leavesNothingAlive } from "../js/support.js";

leavesNothingAlive();

/** Always NaN, but of other bits once token 1 is no longer 2. */
function nanOfFuture({ data }: Tensor): Tensor {
  const bits = data[1] === 2 ? 0x7fc00000 : 0xffc12345;
  return { data: new Float32Array(Uint32Array.of(bits, 0x7fc00000).buffer), shape: [2, 1] };
}

test("two NaNs of other bits are equal within a tolerance", async () => {
  const report = await checkCausality(nanOfFuture, flat([1, 2], 2, 1), { tolerance: 1e-6 });
  expect(report).toMatchObject({ causal: true, comparison: "tolerance", leaks: [], poisonings: [] });
});

test("to the bit they differ, by no distance", async () => {
  const report = await checkCausality(nanOfFuture, flat([1, 2], 2, 1), { modes: ["large"], magnitudes: [1] });
  expect(report).toMatchObject({ causal: false, comparison: "bitwise", firstCut: 0 });
  expect(report.leaks.map(({ positions, size }) => [positions, size])).toEqual([
    [[0], 0],
    [[0], 0],
  ]);
});
