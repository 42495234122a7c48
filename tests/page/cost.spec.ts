import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { cost, linearAttention, masks, randomNormal, scaledDotProductAttention } from "softlookup";
import { peerWork } from "../../web/src/content/peers.ts";
import { ui } from "../../web/src/content/ui.ts";
import { addressOf, cell, expect, numbersOf, open, settled, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "cost", step }, "en", more);

const { cases } = JSON.parse(await readFile(new URL("../golden/course.json", import.meta.url), "utf8")) as {
  cases: readonly { name: string; outputs: Record<string, { data: number[] }> }[];
};
function golden(name: string, output: string): number {
  const value = cases.find((one) => one.name === name)?.outputs[output]?.data[0];
  if (value === undefined) throw new Error(`no ${output} in golden case ${name}`);
  return value;
}

interface Measured {
  engines: readonly {
    contenders: readonly {
      rows: readonly { id: string; form?: string; against: Record<string, number> }[];
    }[];
  }[];
}
const measured = JSON.parse(
  await readFile(new URL("../../bench/measured.json", import.meta.url), "utf8"),
) as Measured;

/** The numbers of a listing, row by row. */
const values = (page: Page, id: string) =>
  page
    .locator(`[data-listing="${id}"] tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("[data-value]")].map((one) => Number(one.getAttribute("data-value"))),
      ),
    );

test("operations by length are the golden file’s, and the fitted slopes 1 and 2", async ({ page, site }) => {
  await open(page, site, at("time"));
  const rows = await values(page, "time");
  for (const [row, name] of [
    [0, "flops_n512_d512"],
    [1, "flops_n1024_d512"],
    [2, "flops_n2048_d512"],
    [3, "flops_n8192_d512"],
  ] as const) {
    const outputs = ["qkv_projection", "out_projection", "attention", "total", "share_attention"];
    outputs.forEach((output, col) => {
      expect(rows[row]?.[col]).toBeCloseTo(golden(name, output), 9);
    });
  }
  const series = page.locator("[data-plot=operations] .series li");
  await expect(series.nth(0)).toContainText(/slope 1(\.000)?$/);
  await expect(series.nth(1)).toContainText(/slope 2(\.000)?$/);
});

test("the two terms 8nd² and 4n²d meet at n = 2d", async ({ page, site }) => {
  for (const width of [512, 2048]) {
    await open(page, site, at("time", `&costDim=${String(width)}`));
    const row = page.locator("[data-plot=operations] tbody tr", {
      has: page.locator("th", { hasText: new RegExp(`^${String(2 * width)}$`) }),
    });
    const met = await row
      .locator("td")
      .evaluateAll((cells) => cells.map((one) => Number(one.dataset["value"])));
    expect(met).toEqual([16 * width ** 3, 16 * width ** 3]);
  }
});

test("an fp16 table of 8 MiB at 2048 and 128 MiB at 8192", async ({ page, site }) => {
  await open(page, site, at("matrix"));
  const rows = await values(page, "matrix");
  expect(rows[0]).toEqual([
    golden("memory_n2048_h1", "elements"),
    golden("memory_n2048_h1", "bytes"),
    golden("memory_n2048_h8", "bytes"),
    2 * golden("memory_n2048_h8", "bytes"),
  ]);
  expect(rows[1]?.slice(0, 3)).toEqual([
    golden("memory_n8192_h1", "elements"),
    golden("memory_n8192_h1", "bytes"),
    golden("memory_n8192_h8", "bytes"),
  ]);
  await expect(page.locator("[data-listing=matrix]")).toContainText("8 MiB");
  await expect(page.locator("[data-listing=matrix]")).toContainText("128 MiB");
});

test("the calculator: every count from the sizes chosen", async ({ page, site }) => {
  await open(
    page,
    site,
    at("calculator", "&costLength=8192&costDim=1024&costHeads=16&costLayers=24&costBytes=4"),
  );
  const size = { length: 8192, modelDim: 1024 };
  const table = 16 * 8192 * 8192 * 4;
  expect((await values(page, "calculator")).flat()).toEqual([
    64,
    4 * 1024 * 1024,
    cost.operations(size).total,
    cost.operations(size).attentionShare,
    cost.decodeOperations(size).total,
    table,
    24 * table,
    2 * 24 * 8192 * 1024 * 4,
  ]);
  await open(page, site, at("parameters", "&costDim=8192"));
  expect((await values(page, "parameters")).at(-1)).toEqual([8192 ** 2, 4 * 8192 ** 2]);
});

test("a sweep measures in a worker, with progress, and can be stopped", async ({ page, site }) => {
  test.slow();
  await open(page, site, at("measure", "&sweepDim=128&sweepWindow=16"));
  await page.getByRole("button", { name: ui.measure.en }).click();
  await expect(page.locator("progress")).toBeVisible();
  await page.getByRole("button", { name: ui.stop.en }).click(); // the page answers while the worker is busy
  await expect(page.locator("[data-run]")).toHaveAttribute("data-run", "cancelled");
  await expect(page.getByRole("button", { name: ui.measure.en })).toBeVisible();
});

test("a sweep’s times are drawn and its exponents fitted", async ({ page, site }) => {
  test.slow();
  await open(page, site, at("measure", "&sweepDim=16&sweepWindow=16"));
  const cells = page.locator("[data-plot=times] tbody td[data-value]");
  await page.getByRole("button", { name: ui.measure.en }).click();
  await settled(page);
  await page.locator("[data-plot=times] summary").click();
  await expect(page.locator("[data-plot=times] table")).toBeVisible();
  expect(await cells.count()).toBe(18); // six lengths, three ways
  const numbers = await cells.evaluateAll((all) => all.map((one) => Number(one.getAttribute("data-value"))));
  for (const milliseconds of numbers) expect(milliseconds).toBeGreaterThan(0);
  const fitted = await values(page, "exponents");
  expect(fitted).toHaveLength(3);
  for (const row of fitted) expect(Number.isFinite(row[0])).toBe(true);
  expect(fitted.map((row) => row[1])).toEqual([2, 1, 1]);
});

test("the peak: with the table the core’s memory holds at least the table", async ({ page, site }) => {
  test.slow();
  await open(page, site, at("peak"));
  await page.getByRole("button", { name: ui.measure.en }).click();
  await settled(page);
  await expect(page.locator("[data-run=done]")).toHaveCount(2);
  const rows = await page
    .locator("[data-plot=peak] tbody tr")
    .evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("td")].map((one) => Number(one.dataset["value"]))),
    );
  for (const [withTable = NaN, withoutTable = NaN, table = NaN] of rows) {
    expect(withTable).toBeGreaterThanOrEqual(table);
    expect(withoutTable).toBeLessThanOrEqual(withTable);
  }
  expect(rows.at(-1)?.[2]).toBe((2048 * 2048 * 4) / 2 ** 20);
});

test("the ratios to another library are those that the bench recorded", async ({ page, site }) => {
  await open(page, site, at("peers"));
  const columns = measured.engines.flatMap(({ contenders }) => contenders);
  const wanted = columns[0]?.rows
    .filter(({ form }) => form === undefined)
    .map(({ id }) =>
      columns.map(
        ({ rows }) =>
          rows.find((row) => row.id === id && row.form === undefined)?.against["onnxruntime-web"] ?? NaN,
      ),
    )
    .filter((row) => row.some(Number.isFinite));
  expect(wanted).toHaveLength(Object.keys(peerWork).length);
  expect(await values(page, "peers")).toEqual(wanted);
});

test("the window’s mask, its rows counted; at W = n it is the causal mask", async ({ page, site }) => {
  await open(page, site, at("window"));
  expect(await numbersOf(page, "window")).toEqual([...masks.window(6, 6, 3).data]);
  expect(await numbersOf(page, "seen")).toEqual([1, 2, 3, 3, 3, 3]);
  expect(await numbersOf(page, "total")).toEqual([15]);
  await cell(page, "seen", 4, 0).hover();
  await expect(page.locator(".readout .arithmetic")).toContainText("= 3");
  await open(page, site, at("window", "&costWindow=6"));
  expect(await numbersOf(page, "window")).toEqual([...masks.causal(6).data]);
});

test("linear attention beside softmax attention: other numbers", async ({ page, site }) => {
  const drawn = randomNormal([3, 6, 4], 2).data;
  const part = (nth: number) => ({ data: drawn.slice(nth * 24, nth * 24 + 24), shape: [6, 4] });
  const [q, k, v] = [part(0), part(1), part(2)];
  await open(page, site, at("linear"));
  const soft = [...scaledDotProductAttention(q, k, v, { causal: true }).output.data];
  const linear = [...linearAttention(q, k, v, { causal: true }).output.data];
  expect(await numbersOf(page, "soft")).toEqual(soft);
  expect(await numbersOf(page, "linear")).toEqual(linear);
  expect(await numbersOf(page, "difference")).toEqual(
    soft.map((value, place) => Math.fround(value - (linear[place] ?? NaN))),
  );
});
