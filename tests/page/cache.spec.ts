import { cost, masks, randomNormal, scaledDotProductAttention } from "softlookup";
import { addressOf, expect, numbersOf, open, settled, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "cache", step }, "en", more);

/** Q, K, V of the default seed, as the page draws them. */
const draw = (length: number) =>
  [15, 16, 17].map((seed) => {
    const { data } = randomNormal([length, 2], seed);
    return { data, shape: [length, 2] };
  });

/** The passes, and the output of a call, which does not go by them. */
function attend(count: number) {
  const [q, k, v] = draw(6).map(({ data }) => ({ data: data.slice(0, count * 2), shape: [count, 2] }));
  if (!q || !k || !v) throw new Error("three tensors");
  const { steps } = scaledDotProductAttention.trace(q, k, v, { causal: true });
  const pass = (wanted: string) => [...(steps.find(({ id }) => id === wanted)?.tensor.data ?? [])];
  const { output } = scaledDotProductAttention(q, k, v, { causal: true });
  return { output: pass("output"), weights: pass("weights"), called: [...output.data] };
}

test("old rows keep every bit when a token comes, and only the last row is new", async ({ page, site }) => {
  await open(page, site, at("row"));
  const [before, now] = [attend(3), attend(4)];
  expect(await numbersOf(page, "weightsUntil")).toEqual(before.weights);
  expect(await numbersOf(page, "weightsNow")).toEqual(now.weights);
  expect(await numbersOf(page, "outputNow")).toEqual(now.output);
  expect(now.output.slice(0, 6)).toEqual(before.output);
  await expect(page.locator("[data-grid=weightsNow] .leak, [data-grid=outputNow] .leak")).toHaveCount(0);
  await page.getByRole("slider", { name: "Position" }).press("ArrowRight");
  await expect(page.locator("[data-grid=weightsNow] tbody tr")).toHaveCount(5);
});

test("the mask of one step hides nothing; lined up with the wrong corner it hides the past", async ({
  page,
  site,
}) => {
  await open(page, site, at("mask"));
  expect(await numbersOf(page, "triangle")).toEqual([...masks.causal(4).data]);
  expect(await numbersOf(page, "step")).toEqual([1, 1, 1, 1]);
  expect(await numbersOf(page, "misaligned")).toEqual([1, 0, 0, 0]);
});

test("through the cache: the row of the whole, and the same bits for every length, chunk and seed", async ({
  page,
  site,
}) => {
  await open(page, site, at("cached"));
  expect(await numbersOf(page, "output")).toEqual(attend(4).output.slice(6, 8));

  await open(page, site, at("equal"));
  const outcome = page.locator("[data-same]");
  expect(await numbersOf(page, "through")).toEqual(attend(6).called);
  expect(await numbersOf(page, "whole")).toEqual(attend(6).called);
  expect(new Set(await numbersOf(page, "difference"))).toEqual(new Set([0]));
  await expect(outcome).toHaveText(/agree to the last bit.*Largest difference: 0$/s);

  await open(page, site, at("chunks", "&generated=8&position=4&chunk=3"));
  // Tokens 3, 4, 5 against a past of three.
  expect(await numbersOf(page, "chunkMask")).toEqual([1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
  expect((await numbersOf(page, "misaligned")).slice(0, 6)).toEqual([1, 0, 0, 0, 0, 0]);
  for (const key of ["End", "Home"]) {
    await page.getByRole("slider", { name: "Chunks" }).press(key);
    await expect(outcome).toHaveAttribute("data-same", "true");
  }
});

test("operations as the core counts them", async ({ page, site }) => {
  await open(page, site, at("count", "&modelDim=64"));
  const row = page.locator("[data-plot=operations] tbody tr", {
    has: page.locator("th", { hasText: /^1024$/ }),
  });
  const shown = await row.locator("td").evaluateAll((cells) => cells.map((one) => Number(one.dataset.value)));
  const size = { length: 1024, modelDim: 64 };
  expect(shown).toEqual([cost.operations(size).total, cost.decodeOperations(size).total]);
  // 8nd² + 4n²d against 8d² + 4nd
  expect(shown).toEqual([8 * 1024 * 4096 + 4 * 1024 * 1024 * 64, 8 * 4096 + 4 * 1024 * 64]);
});

test("time is measured in a worker, which can be stopped", async ({ page, site }) => {
  await open(page, site, at("time"));
  const state = page.locator("[data-run]");
  const rows = page.locator("[data-plot=times] tbody tr");
  // In one go, before a fast machine is through.
  await page.evaluate(async () => {
    const button = (name: string) =>
      [...document.querySelectorAll("button")].find(({ textContent }) => textContent === name);
    button("Measure")?.click();
    while (button("Stop")?.disabled) await new Promise(requestAnimationFrame);
    button("Stop")?.click();
  });
  await expect(state).toHaveAttribute("data-run", "cancelled");
  const found = await rows.count();
  await page.getByRole("button", { name: "Measure" }).click();
  await settled(page);
  await expect(state).toHaveAttribute("data-run", "done");
  await expect(rows).toHaveCount(5);
  expect(found).toBeLessThan(5);
  const times = await rows
    .locator("td")
    .evaluateAll((cells) => cells.map((one) => Number(one.dataset.value)));
  for (const time of times) expect(time).toBeGreaterThan(0);
});

test("the calculator: two times everything, as the core multiplies it", async ({ page, site }) => {
  await open(page, site, at("memory"));
  // 2 · 32 · 8 · 128 · 8192 · 1 · 2
  await expect(page.locator("[data-bytes]")).toHaveAttribute("data-bytes", "1073741824");
  await expect(page.locator(".total")).toHaveText("1 GiB");
  await page.getByRole("slider", { name: "Key/value heads" }).press("End");
  await expect(page.locator(".total")).toHaveText("8 GiB");
});
