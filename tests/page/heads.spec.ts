import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { MultiHeadAttention, randomNormal } from "softlookup";
import { addressOf, cell, expect, expectClose, numbersOf, open, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "heads", step }, "en", more);

/** x w for row-major [rows, inner] and [inner, cols], in double precision. */
function product(x: readonly number[], w: readonly number[], inner: number): number[] {
  const cols = w.length / inner;
  return Array.from({ length: (x.length / inner) * cols }, (_, place) => {
    const [row, col] = [Math.floor(place / cols), place % cols];
    return Array.from(
      { length: inner },
      (_, e) => (x[row * inner + e] ?? NaN) * (w[e * cols + col] ?? NaN),
    ).reduce((sum, term) => sum + term, 0);
  });
}

/** Columns in which some cell carries the mark. */
const marked = (page: Page, grid: string, mark: "moved" | "wrong") =>
  page
    .locator(`[data-grid="${grid}"] td.${mark}`)
    .evaluateAll((cells) =>
      [...new Set(cells.map((one) => Number((one as HTMLElement).dataset.col)))].sort((a, b) => a - b),
    );

const listed = (page: Page, id: string) =>
  page
    .locator(`[data-listing="${id}"] tbody tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((one) => one.textContent.trim())));

test("Q is X times the matrix beside it, and each head holds its own columns of Q", async ({
  page,
  site,
}) => {
  await open(page, site, at("project"));
  const [x, weight, q] = [
    await numbersOf(page, "tokens"),
    await numbersOf(page, "weight"),
    await numbersOf(page, "query"),
  ];
  expect(x).toEqual([...randomNormal([4, 6], 3).data]);
  expectClose(q, product(x, weight, 6));
  await cell(page, "query", 1, 4).hover();
  await expect(page.locator("td.lit")).toHaveCount(12);

  await open(page, site, at("split"));
  for (const head of [0, 1]) {
    const columns = q.filter((_, place) => Math.floor((place % 6) / 3) === head);
    expect(await numbersOf(page, `head${String(head)}`)).toEqual(columns);
  }
});

test("a token typed over reaches every head of its row and no other row", async ({ page, site }) => {
  await open(page, site, at("project"));
  const before = await numbersOf(page, "query");
  await cell(page, "tokens", 2, 5).locator("input").fill("4.5");
  await expect(page).toHaveURL(/headsTokens=2\*5\*4.5/);
  const after = await numbersOf(page, "query");
  const rows = after.flatMap((value, place) => (value === before[place] ? [] : [Math.floor(place / 6)]));
  expect(rows).toEqual([2, 2, 2, 2, 2, 2]);
});

test("every head’s weights, the merged heads and the output are the package’s", async ({ page, site }) => {
  // The page's matrices: draws of the seeds after the tokens' own, over the root of the width.
  const matrix = (seed: number) => [...randomNormal([6, 6], seed).data].map((value) => value / Math.sqrt(6));
  const x = randomNormal([4, 6], 3);
  using layer = new MultiHeadAttention({ embedDim: 6, numHeads: 2, bias: false });
  layer.loadStateDict({
    in_proj_weight: { data: [...matrix(4), ...matrix(5), ...matrix(6)], shape: [18, 6] },
    "out_proj.weight": { data: matrix(7), shape: [6, 6] },
  });
  const expected = layer.forward(x, x, x, { needWeights: true, averageWeights: false });

  await open(page, site, at("attend"));
  const weights = [...(await numbersOf(page, "weights0")), ...(await numbersOf(page, "weights1"))];
  expectClose(weights, [...(expected.weights?.data ?? [])]);

  await open(page, site, at("mix"));
  const [merged, wo, output] = [
    await numbersOf(page, "merged"),
    await numbersOf(page, "weight"),
    await numbersOf(page, "output"),
  ];
  expectClose(output, product(merged, wo, 6));
  expectClose(output, [...expected.output.data]);

  await open(page, site, at("concat"));
  expect(await numbersOf(page, "merged")).toEqual(merged);
  const heads = [await numbersOf(page, "head0"), await numbersOf(page, "head1")];
  expect(merged).toEqual(
    [0, 1, 2, 3].flatMap((token) => heads.flatMap((head) => head.slice(token * 3, token * 3 + 3))),
  );
});

test("without Wᴼ a silenced head moves its own columns, with it all", async ({ page, site }) => {
  await open(page, site, at("silence", "&headsCount=3&headsSilent=1"));
  expect(await marked(page, "mergedSilent", "moved")).toEqual([2, 3]);
  await expect(page.locator("[data-grid=mergedSilent] td.moved")).toHaveCount(8);
  await expect(page.locator("[data-grid=outputSilent] td.moved")).toHaveCount(24);
  const silent = (await numbersOf(page, "mergedSilent")).filter((_, place) => [2, 3].includes(place % 6));
  expect(silent).toEqual(silent.map(() => 0));
});

test("head by head and all at once: the same output, and their difference", async ({ page, site }) => {
  await open(page, site, at("loop"));
  const [large, small] = [await numbersOf(page, "large"), await numbersOf(page, "small")];
  expectClose(large, small);
  expect(await numbersOf(page, "difference")).toEqual(
    large.map((value, place) => Math.fround(value - (small[place] ?? NaN))),
  );
});

test("the forgotten swap: the memory of the heads read on, and where it is right by luck", async ({
  page,
  site,
}) => {
  await open(page, site, at("view", "&headsLength=2"));
  const memory = [...(await numbersOf(page, "head0")), ...(await numbersOf(page, "head1"))];
  expect(await numbersOf(page, "wrong")).toEqual(memory);
  // Head 0's token 1 and head 1's token 0 have changed places; the corners are right.
  await expect(page.locator("[data-grid=wrong] td.wrong")).toHaveCount(6);
  expect(await marked(page, "wrong", "wrong")).toEqual([0, 1, 2, 3, 4, 5]);
  await cell(page, "wrong", 0, 3).hover();
  await expect(page.locator(".readout")).toContainText("is what head 0 made for token 1");
  await expect(page.locator(".readout")).toContainText("here belongs what head 1 made for token 0");
  await cell(page, "wrong", 1, 3).hover();
  await expect(page.locator(".readout")).toContainText("is what head 1 made for token 1, and belongs here");

  // One head, or one token a head: nothing to swap.
  await open(page, site, at("view", "&headsCount=1"));
  await expect(page.locator("[data-grid=wrong] td.wrong")).toHaveCount(0);
});

test("the string of shapes, for the chapter’s sizes and for others", async ({ page, site }) => {
  await open(page, site, at("shapes"));
  const shapes = async () => (await listed(page, "shapes")).map((row) => row[2]);
  expect(await shapes()).toEqual([
    "(2, 4, 512)",
    "(2, 4, 512)",
    "(2, 8, 4, 64)",
    "(2, 8, 4, 4)",
    "(2, 8, 4, 4)",
    "(2, 8, 4, 64)",
    "(2, 4, 512)",
    "(2, 4, 512)",
  ]);
  await open(page, site, at("shapes", "&shapeBatch=1&shapeLength=5&shapeDim=16&shapeHeads=4"));
  expect(await shapes()).toEqual([
    "(1, 5, 16)",
    "(1, 5, 16)",
    "(1, 4, 5, 4)",
    "(1, 4, 5, 5)",
    "(1, 4, 5, 5)",
    "(1, 4, 5, 4)",
    "(1, 5, 16)",
    "(1, 5, 16)",
  ]);
});

test("the same number of parameters for 8 and 64 heads, as in the golden file and in a layer", async ({
  page,
  site,
}) => {
  const { cases } = JSON.parse(await readFile(new URL("../golden/course.json", import.meta.url), "utf8")) as {
    cases: readonly { name: string; outputs: Record<string, { data: number[] }> }[];
  };
  const golden = (name: string, output: string) =>
    cases.find((one) => one.name === name)?.outputs[output]?.data[0];
  await open(page, site, at("parameters"));
  const rows = await listed(page, "parameters");
  const numbers = rows.map((row) => row.slice(1).map((text) => Number(text.replaceAll(",", ""))));
  for (const [row, name] of [
    [0, "parameters_h8"],
    [1, "parameters_h64"],
  ] as const) {
    expect(numbers[row]?.[0]).toBe(golden(name, "d_head"));
    expect(numbers[row]?.[4]).toBe(golden(name, "out"));
    expect(numbers[row]?.[5]).toBe(golden(name, "total"));
  }
  expect(numbers[2]).toEqual([64, 589824, 589824, 589824, 589824, 2359296, 2359296]);
  for (const row of numbers) expect(row[6]).toBe(row[5]);
});

test("heads that no longer divide the width are fitted to it", async ({ page, site }) => {
  await open(page, site, at("split", "&headsDim=8&headsCount=4"));
  await expect(page.locator("[data-grid^=head]")).toHaveCount(4);
  await page.getByLabel("Model dim").fill("1");
  await expect(page.locator("[data-grid^=head]")).toHaveCount(3);
});
