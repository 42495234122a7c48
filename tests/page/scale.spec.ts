import type { Page } from "@playwright/test";
import { moments, randomNormal, rowEntropies, scaledDotProductAttention, softmax } from "softlookup";
import { addressOf, cell, expect, expectClose, numbersOf, open, settled, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "scale", step }, "en", more);
const pass = (steps: readonly { id: string; tensor: { data: Float32Array } }[], id: string) => [
  ...(steps.find((step) => step.id === id)?.tensor.data ?? []),
];

/** The numbers of a plot's table, by row. */
async function tableOf(page: Page, plot: string): Promise<Map<number, number[]>> {
  const rows = await page.locator(`[data-plot=${plot}] tbody tr`).evaluateAll((lines) =>
    lines.map((line) => ({
      head: Number(line.querySelector("th")?.textContent),
      cells: [...line.querySelectorAll("td")].map((one) => Number(one.dataset.value)),
    })),
  );
  return new Map(rows.map(({ head, cells }) => [head, cells]));
}

const widths = [1, 2, 4, 8, 16, 32, 64, 128, 256];

test("draws: q · k of the core, as far apart as theory says, and others for another seed", async ({
  page,
  site,
}) => {
  await open(page, site, at("draws", "&seed=7"));
  const [q, k] = [randomNormal([8, 1, 4], 14), randomNormal([8, 1, 4], 15)];
  const dots = pass(scaledDotProductAttention.trace(q, k, k).steps, "scores");
  const shown = await numbersOf(page, "draws");
  expect(shown.slice(16, 24)).toEqual(dots);
  expect(await numbersOf(page, "deviation")).toEqual(widths.map(Math.sqrt));
  await page.getByLabel("Seed").fill("8");
  await expect.poll(() => numbersOf(page, "draws")).not.toEqual(shown);
});

test("the variance is d, sampled in a worker, and 1 after the division", async ({ page, site }) => {
  await open(page, site, at("variance"));
  await expect(page.locator("[data-run]")).toHaveAttribute("data-run", "done", { timeout: 30_000 });
  const table = await tableOf(page, "variance");
  expect([...table.keys()]).toEqual(widths);
  for (const [dim, [theory = NaN, sampled = NaN, one = NaN, scaled = NaN]] of table) {
    expect([theory, one]).toEqual([dim, 1]);
    // Five standard errors: a variance of 4096 numbers of kurtosis 3 + 6/d.
    const error = 5 * Math.sqrt((2 + 6 / dim) / 4096);
    expect(Math.abs(sampled / dim - 1)).toBeLessThan(error);
    expect(Math.abs(scaled / (sampled / dim) - 1)).toBeLessThan(1e-4);
  }
  const [q, k] = [randomNormal([4096, 1, 8], 10), randomNormal([4096, 1, 8], 11)];
  const { steps } = scaledDotProductAttention.trace(q, k, k);
  expect(table.get(8)?.[1]).toBe(moments(pass(steps, "scores")).variance);
});

test("one row at d = 64: nearly one-hot without the scale, and its entropy", async ({ page, site }) => {
  await open(page, site, at("saturation"));
  const [q, k] = [randomNormal([1, 64], 10), randomNormal([8, 64], 11)];
  for (const [name, scale] of [
    ["Scaled", undefined],
    ["Raw", 1],
  ] as const) {
    const weights = pass(scaledDotProductAttention.trace(q, k, k, { scale }).steps, "weights");
    expect(await numbersOf(page, `weights${name}`)).toEqual(weights);
    expect(await numbersOf(page, `largest${name}`)).toEqual([Math.max(...weights)]);
    const bits = -weights.reduce((sum, w) => sum + (w === 0 ? 0 : w * Math.log2(w)), 0);
    expectClose(await numbersOf(page, `entropy${name}`), [bits]);
  }
  const [scaled = NaN] = await numbersOf(page, "largestScaled");
  const [raw = NaN] = await numbersOf(page, "largestRaw");
  expect(raw).toBeGreaterThan(scaled);
  // At width 1 there is nothing to scale.
  await page.getByRole("slider", { name: "Head dim" }).press("Home");
  await expect(page).toHaveURL(/width=1(&|$)/);
  expect(await numbersOf(page, "weightsRaw")).toEqual(await numbersOf(page, "weightsScaled"));
});

test("entropy on average: level with the scale, falling without", async ({ page, site }) => {
  await open(page, site, at("entropy", "&keyCount=16"));
  await settled(page);
  const [entropy, largest] = [await tableOf(page, "entropy"), await tableOf(page, "largest")];
  const [q, k] = [randomNormal([256, 64], 10), randomNormal([16, 64], 11)];
  const weights = softmax({
    data: Float32Array.from(pass(scaledDotProductAttention.trace(q, k, k, { scale: 1 }).steps, "scaled")),
    shape: [256, 16],
  });
  expect(entropy.get(64)?.[1]).toBe(moments(rowEntropies(weights)).mean);
  const column = (table: Map<number, number[]>, series: number) =>
    [...table.values()].map((row) => row[series] ?? NaN);
  expect(column(entropy, 1).at(-1)).toBeLessThan(0.5);
  expect(Math.min(...column(entropy, 0))).toBeGreaterThan(2.5);
  expect(column(largest, 1).at(-1)).toBeGreaterThan(0.85);
});

test("shared projections: scores symmetric to the bit; W^V alone moves no weight", async ({ page, site }) => {
  await open(page, site, at("symmetric"));
  // x = (1,0), (0,1), (1,1); Q = X W^Q = (1,0), (1,−1), (2,−1); K = X W^K = (0,1), (1,0), (1,1).
  expect(await numbersOf(page, "q")).toEqual([1, 0, 1, -1, 2, -1]);
  expect(await numbersOf(page, "k")).toEqual([0, 1, 1, 0, 1, 1]);
  expect(await numbersOf(page, "scores")).toEqual([0, 1, 1, -1, 1, 0, -1, 2, 1]);
  expect(await numbersOf(page, "skew")).toEqual([0, 2, 2, -2, 0, -2, -2, 2, 0]);
  await page.getByRole("combobox", { name: "Projections" }).selectOption("qk");
  await expect.poll(() => numbersOf(page, "skew")).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0]);
  await expect(page.locator("[data-grid=wk]")).toHaveCount(0);
  await cell(page, "wq", 0, 1).locator("input").fill("0.3");
  await expect.poll(async () => (await numbersOf(page, "q"))[1]).toBeCloseTo(0.3, 6);
  expect(await numbersOf(page, "skew")).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0]);

  await open(page, site, at("merged"));
  const before = await numbersOf(page, "weights");
  await cell(page, "wv", 0, 0).locator("input").fill("7");
  await expect.poll(async () => (await numbersOf(page, "v"))[0]).toBe(7);
  expect(await numbersOf(page, "weights")).toEqual(before);
  await page.getByRole("combobox", { name: "Projections" }).selectOption("kv");
  await expect.poll(async () => numbersOf(page, "v")).toEqual(await numbersOf(page, "k"));
  await cell(page, "wk", 0, 0).locator("input").fill("7");
  await expect.poll(() => numbersOf(page, "weights")).not.toEqual(before);
});
