import { additiveAttention, scaledDotProductAttention } from "softlookup";
import { defaults } from "../../web/src/state/inputs.ts";
import { addressOf, cell, expect, expectClose, numbersOf, open, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "lookup", step }, "en", more);
const passesOf = (steps: readonly { id: string; tensor: { data: Float32Array } }[]) => (id: string) => [
  ...(steps.find((step) => step.id === id)?.tensor.data ?? []),
];

const rows = (data: readonly number[], width: number) =>
  Array.from({ length: data.length / width }, (_, row) => data.slice(row * width, (row + 1) * width));
const [query, keys, values] = [[[...defaults.query]], rows(defaults.keys, 2), rows(defaults.values, 2)];

test("the hard lookup: one entry takes all, those that tie share, and the answer jumps", async ({
  page,
  site,
}) => {
  await open(page, site, at("hard"));
  // 0.9·1 + 0.4·0, 0.9·0.8 + 0.4·0.6, 0.4, −0.9
  expectClose(await numbersOf(page, "scores"), [0.9, 0.96, 0.4, -0.9]);
  expect(await numbersOf(page, "weights")).toEqual([0, 1, 0, 0]);
  expect(await numbersOf(page, "answer")).toEqual([0, 1]);
  await cell(page, "query", 0, 0).locator("input").fill("2");
  await expect.poll(() => numbersOf(page, "answer")).toEqual([1, 0]);
  await cell(page, "query", 0, 0).locator("input").fill("0");
  await cell(page, "query", 0, 1).locator("input").fill("0");
  await expect.poll(() => numbersOf(page, "weights")).toEqual([0.25, 0.25, 0.25, 0.25]);
  await expect(page.locator(".readout")).toContainText("0");
});

test("the soft lookup: the core’s numbers at every temperature, from one entry to the mean", async ({
  page,
  site,
}) => {
  await open(page, site, at("soft"));
  const pass = passesOf(scaledDotProductAttention.trace(query, keys, values, { scale: 1 / 0.2 }).steps);
  expect(await numbersOf(page, "tempered")).toEqual(pass("scaled"));
  expect(await numbersOf(page, "weights")).toEqual(pass("weights"));
  expect(await numbersOf(page, "answer")).toEqual(pass("output"));
  const temperature = page.getByRole("slider", { name: "Temperature" });
  await temperature.press("Home");
  await expect(page).toHaveURL(/temperature=0.01/);
  expectClose(await numbersOf(page, "answer"), [0, 1], 0.01);
  await temperature.press("End");
  await expect(page).toHaveURL(/temperature=100/);
  expectClose(await numbersOf(page, "weights"), [0.25, 0.25, 0.25, 0.25], 0.005);
});

test("the plots: weights by temperature add up to 1; the hard answer is one of the values", async ({
  page,
  site,
}) => {
  const column = (plot: string, series: number) =>
    page
      .locator(`[data-plot=${plot}] tbody tr`)
      .evaluateAll(
        (lines, index) =>
          lines.map((line) => line.querySelectorAll("td")[index]?.getAttribute("data-value") ?? null),
        series,
      );
  const numbers = (texts: readonly (string | null)[]) =>
    texts.filter((text) => text !== null).map((text) => Number(text.replace("−", "-")));

  await open(page, site, at("temperature"));
  const weights = await Promise.all(
    [0, 1, 2, 3].map(async (entry) => numbers(await column("temperature", entry))),
  );
  const pass = passesOf(scaledDotProductAttention.trace(query, keys, values, { scale: 1 / 0.05 }).steps);
  // 0.01, 0.02, 0.05, …
  expect(weights.map((series) => series[2])).toEqual(pass("weights"));
  await expect(page.locator("[data-plot=temperature] svg[role=img] path.stroke")).not.toHaveCount(0);

  await open(page, site, at("nudge"));
  const hard = numbers(await column("nudge", 0));
  expect(hard.length).toBeGreaterThan(80);
  for (const answer of hard) expect([1, 0, -1, 0.5, -0.5]).toContain(answer);
  expect(new Set(numbers(await column("nudge", 1))).size).toBeGreaterThan(70);
});

const parameters = {
  W: rows(defaults.addW, 2),
  U: rows(defaults.addU, 2),
  b: [...defaults.addB],
  v: [...defaults.addV],
};

test("additive attention beside the dot product", async ({ page, site }) => {
  const pass = passesOf(additiveAttention.trace(query, keys, values, parameters).steps);
  await open(page, site, at("additive"));
  expect(await numbersOf(page, "addQuery")).toEqual(pass("query"));
  expect(await numbersOf(page, "addKey")).toEqual(pass("key"));
  await open(page, site, at("additive-scores"));
  const scores = await numbersOf(page, "addScores");
  expect(scores).toEqual(pass("scores"));
  // Key 0 by hand: W q + b = (−0.8, −2.8, 0.2, −1.8), U k = (2, 2, 0, 0).
  const tanh = Math.tanh;
  expectClose([scores[0] ?? NaN], [2 * (tanh(1.2) - tanh(-0.8) + tanh(0.2) - tanh(-1.8))]);
  expect(await numbersOf(page, "addWeights")).toEqual(pass("weights"));
  const dot = passesOf(scaledDotProductAttention.trace(query, keys, values, { scale: 1 }).steps);
  expect(await numbersOf(page, "dotWeights")).toEqual(dot("weights"));
  // What the task says: the dot product doubles, the additive score falls.
  await cell(page, "keys", 0, 0).locator("input").fill("2");
  await expect.poll(async () => (await numbersOf(page, "scores"))[0]).toBeCloseTo(1.8, 6);
  expect((await numbersOf(page, "addScores"))[0]).toBeLessThan(scores[0] ?? NaN);
});

test("translation: one vector for every step, or a context for each", async ({ page, site }) => {
  await open(page, site, at("bottleneck"));
  expect(await numbersOf(page, "contexts")).toEqual([0, 1, 2, 3, 4].flatMap(() => [-1, 0]));
  await open(page, site, at("look-back"));
  const states = rows(defaults.encoder, 2);
  const pass = passesOf(additiveAttention.trace(rows(defaults.decoder, 2), states, states, parameters).steps);
  const weights = await numbersOf(page, "weights");
  expect(weights).toEqual(pass("weights"));
  expect(await numbersOf(page, "contexts")).toEqual(pass("output"));
  // The alignment that the text speaks of: I, love, NLP, NLP, NLP.
  const looksAt = rows(weights, 3).map((row) => row.indexOf(Math.max(...row)));
  expect(looksAt).toEqual([0, 1, 2, 2, 2]);
});

test("one token: C is row 2 of the causal example, and D cannot reach it", async ({ page, site }) => {
  await open(page, site, at("one-token"));
  const trace = scaledDotProductAttention.trace(
    rows(defaults.q, 2),
    rows(defaults.k, 2),
    rows(defaults.v, 2),
    { causal: true },
  );
  const pass = passesOf(trace.steps);
  expect(await numbersOf(page, "scores")).toEqual(pass("masked").slice(8, 12));
  expect(await numbersOf(page, "weights")).toEqual(pass("weights").slice(8, 12));
  const output = await numbersOf(page, "answer");
  expect(output).toEqual(pass("output").slice(4, 6));
  await cell(page, "v", 3, 0).locator("input").fill("99999");
  await cell(page, "k", 3, 1).locator("input").fill("-12345");
  await expect(cell(page, "v", 3, 0)).toHaveAttribute("data-value", "99999");
  expect(await numbersOf(page, "answer")).toEqual(output);
  await cell(page, "scores", 3, 0).hover();
  await expect(page.locator(".readout")).toContainText("D is yet to come");
});
