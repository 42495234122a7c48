import { readFile } from "node:fs/promises";
import { faultyAttention, masks, rowSums, scaledDotProductAttention, softmax } from "softlookup";
import { chapter } from "../../web/src/content/chapter.ts";
import { addressOf, expect, expectClose, numbersOf, open, test } from "./fixtures.ts";

// Two witnesses for every number: the package, run here in Node, and the golden file, which it did not write.

interface GoldenCase {
  name: string;
  outputs: Readonly<Record<string, { data: readonly (number | string)[] }>>;
}
const course = JSON.parse(await readFile(new URL("../golden/course.json", import.meta.url), "utf8")) as {
  cases: readonly GoldenCase[];
};

function golden(name: string, output: string): number[] {
  const data = course.cases.find((one) => one.name === name)?.outputs[output]?.data;
  if (data === undefined) throw new Error(`no ${output} in golden case ${name}`);
  return data.map(Number);
}

const q = [
  [1, 1],
  [0, 1],
  [1, 0],
  [0.5, 0.5],
];
const v = [
  [1, 0],
  [0, 1],
  [1, 1],
  [0.5, 0.5],
];
const row = [[3, 0.5, -1, 2]];
const keep = [[true, true, false, false]];

const passesOf = (steps: readonly { id: string; tensor: { data: Float32Array } }[]) => (id: string) => [
  ...(steps.find((step) => step.id === id)?.tensor.data ?? []),
];

test.describe("the formula lesson", () => {
  const pass = passesOf(scaledDotProductAttention.trace(q, q, v).steps);

  for (const [step, grid, id, goldenOutput] of [
    ["scores", "scores", "scores", "qk"],
    ["scaled", "masked", "scaled", "scaled"],
    ["row-max", "rowMax", "rowMax", undefined],
    ["exp", "exp", "exp", undefined],
    ["row-sum", "rowSum", "rowSum", undefined],
    ["weights", "weights", "weights", "weights"],
    ["weights", "weightsTotal", undefined, "row_sums"],
    ["output", "output", "output", "output"],
  ] as const) {
    test(`${grid}: the core's own numbers, and the golden ones`, async ({ page, site }) => {
      await open(page, site, addressOf({ lesson: "formula", step }));
      const shown = await numbersOf(page, grid);
      if (id) expect(shown).toEqual(pass(id));
      if (goldenOutput) expectClose(shown, golden("toy_full", goldenOutput));
    });
  }

  for (const step of ["scores", "scaled", "weights", "output"] as const) {
    test(`${step}: the chapter’s rounded numbers stand beside them and agree`, async ({ page, site }) => {
      await open(page, site, addressOf({ lesson: "formula", step }));
      const printed = (await page.locator(".chapter td").allTextContents()).map((text) => text.trim());
      expect(printed).toEqual(chapter.formula?.[step]?.flat());
      const shown = await numbersOf(page, step === "scaled" ? "masked" : step);
      printed.forEach((text, index) => {
        const decimals = text.split(".")[1]?.length ?? 0;
        expect(Math.abs((shown[index] ?? NaN) - Number(text))).toBeLessThanOrEqual(
          0.5 * 10 ** -decimals + 1e-7,
        );
      });
    });
  }

  test("the chapter’s numbers go when the inputs are no longer the chapter’s", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "scores" }, "en", "&q=2_1_0_1_1_0_0.5_0.5"));
    await expect(page.locator("[data-grid=scores]")).toBeVisible();
    await expect(page.locator(".chapter")).toHaveCount(0);
  });
});

test.describe("the masks lesson", () => {
  test("the padding row: −∞, then [.92, .08, 0, 0]", async ({ page, site }) => {
    const pass = passesOf(softmax.trace(row, { mask: keep }).steps);
    await open(page, site, addressOf({ lesson: "masks", step: "padding-masked" }));
    expect(await numbersOf(page, "masked")).toEqual(pass("masked"));
    expectClose(await numbersOf(page, "masked"), golden("padding_row", "masked"));
    await expect(page.locator("[data-grid=masked] td[data-col='2']")).toHaveText("−∞");

    await open(page, site, addressOf({ lesson: "masks", step: "padding-weights" }));
    expect(await numbersOf(page, "weights")).toEqual(pass("weights"));
    expectClose(await numbersOf(page, "weights"), golden("padding_row", "weights"));
    expect(await page.locator(".chapter td").allTextContents()).toEqual(["0.92", "0.08", "0", "0"]);
  });

  test("the causal mask on the example", async ({ page, site }) => {
    const pass = passesOf(scaledDotProductAttention.trace(q, q, v, { causal: true }).steps);
    await open(page, site, addressOf({ lesson: "masks", step: "causal" }));
    expect(await numbersOf(page, "keep")).toEqual([...masks.causal(4).data]);
    expect(await numbersOf(page, "masked")).toEqual(pass("masked"));
    expectClose(await numbersOf(page, "masked"), golden("toy_causal", "masked"));
    await open(page, site, addressOf({ lesson: "masks", step: "causal-weights" }));
    expectClose(await numbersOf(page, "weights"), golden("toy_causal", "weights"));
    expectClose(await numbersOf(page, "weightsTotal"), [1, 1, 1, 1]);
    await open(page, site, addressOf({ lesson: "masks", step: "causal-output" }));
    expect(await numbersOf(page, "output")).toEqual(pass("output"));
    expectClose(await numbersOf(page, "output"), golden("toy_causal", "output"));
  });

  test("both masks: AND, and what attention makes of it", async ({ page, site }) => {
    const padding = masks.padding([3], 4);
    await open(page, site, addressOf({ lesson: "masks", step: "both" }));
    expect(await numbersOf(page, "both")).toEqual([1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0]);
    const both = { data: Uint8Array.from(masks.and(masks.causal(4), padding).data), shape: [4, 4] };
    const pass = passesOf(scaledDotProductAttention.trace(q, q, v, { mask: both }).steps);
    await open(page, site, addressOf({ lesson: "masks", step: "both-weights" }));
    expect(await numbersOf(page, "weights")).toEqual(pass("weights"));
    expect(await numbersOf(page, "output")).toEqual(pass("output"));
  });

  test("a row without a key: weights 0, output 0, and the reason", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "masks", step: "both-weights" }, "en", "&padding=0111"));
    expect((await numbersOf(page, "weights")).slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect((await numbersOf(page, "output")).slice(0, 2)).toEqual([0, 0]);
    await expect(page.locator(".readout")).toContainText("no key left");
  });

  test("the wrong order on the row: its sum is below 1, the right one’s is 1", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "masks", step: "wrong-row" }));
    expectClose(await numbersOf(page, "softmaxAll"), golden("padding_row", "full_softmax"));
    expectClose(await numbersOf(page, "wrong"), golden("padding_row_wrong", "wrong_weights"));
    expectClose(await numbersOf(page, "wrongTotal"), golden("padding_row_wrong", "wrong_row_sum"));
    expectClose(await numbersOf(page, "weightsTotal"), golden("padding_row", "row_sum"));
    expect((await numbersOf(page, "wrongTotal"))[0]).toBeLessThan(1);
  });

  test("the wrong order under the causal mask: only the last row still sums to 1", async ({ page, site }) => {
    const { scaled } = Object.fromEntries(
      scaledDotProductAttention.trace(q, q, v).steps.map(({ id, tensor }) => [id, tensor]),
    );
    if (scaled === undefined) throw new Error("the trace has no pass named scaled");
    const pass = passesOf(faultyAttention.softmaxThenMask(scaled, { causal: true }).steps);
    await open(page, site, addressOf({ lesson: "masks", step: "wrong-rows" }));
    expect(await numbersOf(page, "wrong")).toEqual(pass("weights"));
    expectClose(await numbersOf(page, "wrong"), golden("causal_wrong", "wrong_weights"));
    const sums = await numbersOf(page, "wrongTotal");
    expect(sums).toEqual([...rowSums({ data: Float32Array.from(pass("weights")), shape: [4, 4] }).data]);
    expectClose(sums, golden("causal_wrong", "wrong_row_sums"));
    sums.slice(0, 3).forEach((sum) => {
      expect(sum).toBeLessThan(1);
    });
    expectClose(await numbersOf(page, "weightsTotal"), [1, 1, 1, 1]);
  });
});
