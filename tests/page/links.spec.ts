import fc from "fast-check";
import { memoryChoices, modelDims } from "../../web/src/state/fields/cache.ts";
import { costChoices } from "../../web/src/state/fields/cost.ts";
import { headsDims, shapeDims } from "../../web/src/state/fields/heads.ts";
import { hiddenSizes, thetas } from "../../web/src/state/fields/minimind.ts";
import { temperatures } from "../../web/src/state/fields/lookup.ts";
import { keyCounts, ties, widths } from "../../web/src/state/fields/scale.ts";
import { defaults, type Inputs } from "../../web/src/state/inputs.ts";
import { type Link, readLink, writeLink } from "../../web/src/state/url.ts";
import { addressOf, cell, expect, numbersOf, open, places, test } from "./fixtures.ts";

const number = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const numbers = (length: number) => fc.array(number, { minLength: length, maxLength: length });
const bits = (length: number) => fc.array(fc.boolean(), { minLength: length, maxLength: length });

const matrices = fc.record({
  q: numbers(8),
  k: numbers(8),
  v: numbers(8),
  scores: numbers(4),
  keep: bits(4),
  mask: bits(16),
  padding: bits(4),
});

const lookup = fc.record({
  query: numbers(2),
  keys: numbers(8),
  values: numbers(8),
  temperature: fc.constantFrom(...temperatures),
  addW: numbers(8),
  addU: numbers(8),
  addB: numbers(4),
  addV: numbers(4),
  encoder: numbers(6),
  decoder: numbers(10),
});

const scale = fc.record({
  width: fc.constantFrom(...widths),
  keyCount: fc.constantFrom(...keyCounts),
  x: numbers(6),
  wq: numbers(4),
  wk: numbers(4),
  wv: numbers(4),
  tie: fc.constantFrom(...ties),
});

const cache = fc.integer({ min: 3, max: 8 }).chain((generated) =>
  fc.record({
    generated: fc.constant(generated),
    position: fc.integer({ min: 1, max: generated - 1 }),
    chunk: fc.integer({ min: 1, max: generated }),
    modelDim: fc.constantFrom(...modelDims),
    memoryLength: fc.constantFrom(...memoryChoices.memoryLength),
    memoryLayers: fc.constantFrom(...memoryChoices.memoryLayers),
    memoryKvHeads: fc.constantFrom(...memoryChoices.memoryKvHeads),
    memoryHeadDim: fc.constantFrom(...memoryChoices.memoryHeadDim),
    memoryBatch: fc.constantFrom(...memoryChoices.memoryBatch),
    memoryBytes: fc.constantFrom(...memoryChoices.memoryBytes),
  }),
);

const divisors = (dim: number) =>
  Array.from({ length: dim }, (_, index) => index + 1).filter((count) => dim % count === 0);
/** Numbers typed over in a matrix. */
const typed = (rows: number, cols: number) =>
  fc.uniqueArray(
    fc.record({
      row: fc.integer({ min: 0, max: rows - 1 }),
      col: fc.integer({ min: 0, max: cols - 1 }),
      value: number,
    }),
    { selector: ({ row, col }) => row * cols + col },
  );

const heads = fc
  .record({ headsLength: fc.integer({ min: 2, max: 6 }), headsDim: fc.constantFrom(...headsDims) })
  .chain(({ headsLength, headsDim }) =>
    fc.constantFrom(...divisors(headsDim)).chain((headsCount) =>
      fc.record({
        headsLength: fc.constant(headsLength),
        headsDim: fc.constant(headsDim),
        headsCount: fc.constant(headsCount),
        headsSeed: fc.integer({ min: 0, max: 9999 }),
        headsTokens: typed(headsLength, headsDim),
        headsSilent: fc.integer({ min: 0, max: headsCount - 1 }),
      }),
    ),
  );

const shapes = fc.constantFrom(...shapeDims).chain((shapeDim) =>
  fc.record({
    shapeBatch: fc.integer({ min: 1, max: 2 }),
    shapeLength: fc.integer({ min: 1, max: 6 }),
    shapeDim: fc.constant(shapeDim),
    shapeHeads: fc.constantFrom(...divisors(shapeDim)),
  }),
);

const minimind = fc
  .record({ mmLength: fc.integer({ min: 2, max: 8 }), mmHidden: fc.constantFrom(...hiddenSizes) })
  .chain(({ mmLength, mmHidden }) => {
    const even = divisors(mmHidden).filter((count) => count <= 16 && (mmHidden / count) % 2 === 0);
    return fc.constantFrom(...even).chain((mmHeads) =>
      fc.record({
        mmBatch: fc.integer({ min: 1, max: 2 }),
        mmLength: fc.constant(mmLength),
        mmHidden: fc.constant(mmHidden),
        mmHeads: fc.constant(mmHeads),
        mmKvHeads: fc.constantFrom(...divisors(mmHeads)),
        mmSeed: fc.integer({ min: 0, max: 9999 }),
        mmTokens: mmHidden <= 24 ? typed(mmLength, mmHidden) : fc.constant([]),
        mmHead: fc.integer({ min: 0, max: mmHeads - 1 }),
        mmPast: fc.integer({ min: 1, max: mmLength - 1 }),
        mmKeep: bits(8),
        mmPosition: fc.integer({ min: 0, max: mmLength - 1 }),
        mmStart: fc.integer({ min: 0, max: 1000 }),
        mmTheta: fc.constantFrom(...thetas),
      }),
    );
  });

const cost = fc
  .record({ costDim: fc.constantFrom(...costChoices.costDim), costTokens: fc.integer({ min: 4, max: 8 }) })
  .chain(({ costDim, costTokens }) =>
    fc.record({
      costLength: fc.constantFrom(...costChoices.costLength),
      costDim: fc.constant(costDim),
      costHeads: fc.constantFrom(...divisors(costDim).filter((count) => count <= 128)),
      costLayers: fc.constantFrom(...costChoices.costLayers),
      costBytes: fc.constantFrom(...costChoices.costBytes),
      sweepDim: fc.constantFrom(...costChoices.sweepDim),
      sweepWindow: fc.constantFrom(...costChoices.sweepWindow),
      costTokens: fc.constant(costTokens),
      costWindow: fc.integer({ min: 1, max: costTokens }),
      costSeed: fc.integer({ min: 0, max: 9999 }),
    }),
  );

const sequence = fc
  .record({ length: fc.integer({ min: 3, max: 10 }), dim: fc.constantFrom(2, 4, 6, 8) })
  .chain(({ length, dim }) =>
    fc.record({
      length: fc.constant(length),
      dim: fc.constant(dim),
      cut: fc.integer({ min: 0, max: length - 2 }),
    }),
  )
  .chain(({ length, dim, cut }) => {
    const edits = (from: number) =>
      fc.uniqueArray(
        fc.record({
          row: fc.integer({ min: from, max: length - 1 }),
          col: fc.integer({ min: 0, max: dim - 1 }),
          value: number,
        }),
        { selector: ({ row, col }) => row * dim + col },
      );
    return fc.record({
      length: fc.constant(length),
      dim: fc.constant(dim),
      seed: fc.integer({ min: 0, max: 9999 }),
      cut: fc.constant(cut),
      tokens: edits(0),
      future: edits(cut + 1),
      fault: fc.constantFrom("block-leak" as const, "finite-sentinel" as const, "no-mask" as const),
    });
  });

/** Any state that the page can be in. */
const links: fc.Arbitrary<Link> = fc.record({
  place: fc.constantFrom(...places),
  language: fc.constantFrom("zh", "en", undefined),
  inputs: fc
    .tuple(matrices, lookup, scale, cache, heads, shapes, minimind, cost, sequence)
    .map(([a, b, c, d, e, f, g, h, i]): Inputs => ({ ...a, ...b, ...c, ...d, ...e, ...f, ...g, ...h, ...i })),
});

test("any state survives being written as a link and read again", () => {
  fc.assert(
    fc.property(links, (link) => {
      const { link: read, understood } = readLink(writeLink(link));
      expect(understood).toBe(true);
      expect(read).toEqual(link);
    }),
  );
});

test("no link whatever throws, and what comes of it can be written again", () => {
  const keys = ["lesson", "step", "lang", ...Object.keys(defaults)];
  const query = fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...keys), fc.string()), fc.string({ unit: "binary" })))
    .map((pairs) => `?${new URLSearchParams(pairs).toString()}`);
  fc.assert(
    fc.property(fc.oneof(query, fc.string({ unit: "binary" })), (search) => {
      const { link } = readLink(search);
      expect(readLink(writeLink(link))).toEqual({ link, understood: true });
    }),
  );
});

test("a link with defaults is short, and only what was changed is in it", () => {
  const place = { lesson: "formula", step: "scores" } as const;
  expect(writeLink({ place, inputs: defaults, language: undefined })).toBe("?lesson=formula&step=scores");
  expect(
    writeLink({ place, inputs: { ...defaults, keep: [true, false, true, false] }, language: "zh" }),
  ).toBe("?lesson=formula&step=scores&lang=zh&keep=1010");
});

const hostile: Readonly<Record<string, string>> = {
  "an unknown lesson": "?lesson=cooking",
  "an unknown step": "?lesson=formula&step=nowhere",
  "a step of another lesson": "?lesson=formula&step=both",
  "a name that every object has": "?lesson=constructor&step=__proto__",
  "an unknown key": "?lesson=formula&step=scores&surprise=1",
  "a key given twice": "?step=scores&step=exp",
  "a script": "?lesson=<script>alert(1)</script>&q=<img src=x onerror=alert(1)>",
  "not a number": "?lesson=formula&step=scores&q=NaN_1_0_1_1_0_.5_.5",
  "an infinite number": "?lesson=formula&step=scores&q=Infinity_1_0_1_1_0_.5_.5",
  "more than a float32 holds": "?lesson=formula&step=scores&q=1e39_1_0_1_1_0_.5_.5",
  "too few numbers": "?lesson=formula&step=scores&q=1_1",
  "too many numbers": `?lesson=formula&step=scores&q=${"1_".repeat(200)}1`,
  "a huge link": `?lesson=formula&step=scores&q=${"9".repeat(8000)}`,
  "bits that are none": "?lesson=masks&step=causal&mask=2222222222222222",
  "a length without bounds": "?lesson=leak&step=tokens&length=999999999",
  "a negative seed": "?lesson=leak&step=tokens&seed=-1",
  "an odd head dimension": "?lesson=leak&step=tokens&dim=3",
  "a cut beyond the end": "?lesson=leak&step=replace&length=4&cut=9",
  "an edit outside the matrix": "?lesson=leak&step=tokens&length=4&tokens=9*0*1",
  "heads that do not divide the width": "?lesson=heads&step=split&headsDim=6&headsCount=4",
  "a width that makes odd heads": "?lesson=minimind&step=rope&mmHidden=8&mmHeads=8",
  "a window wider than the sequence": "?lesson=cost&step=window&costTokens=4&costWindow=8",
  "a fault that nobody makes": "?lesson=leak&step=others&fault=toString",
  "a temperature of zero": "?lesson=lookup&step=soft&temperature=0",
  "a temperature that is not offered": "?lesson=lookup&step=soft&temperature=0.3",
  "a matrix that nobody shares": "?lesson=scale&step=merged&tie=valueOf",
  "a width without bounds": "?lesson=scale&step=saturation&width=1e9",
  "a position that is not generated": "?lesson=cache&step=row&generated=3&position=7",
  "a language that is not spoken here": "?lang=fr",
  "a broken escape": "?lesson=%E0%A4%A",
};

test.describe("a link that anybody may have written", () => {
  for (const [name, search] of Object.entries(hostile)) {
    test(`${name}: a notice and the default`, async ({ page, site }) => {
      await open(page, site, search);
      const notice = page.locator(".notice[role=alert]");
      await expect(notice).toBeVisible();
      await expect(notice).not.toContainText("<");
      await expect(page.locator("[data-grid] td").first()).toBeVisible();
      // The address is mended too.
      expect(readLink(new URL(page.url()).search).understood).toBe(true);
      await notice.getByRole("button").click();
      await expect(notice).toHaveCount(0);
    });
  }

  test("keeps what it understands", async ({ page, site }) => {
    await open(page, site, "?lesson=formula&step=scores&q=2_1_0_1_1_0_.5_.5&k=broken");
    await expect(page.locator(".notice")).toBeVisible();
    expect(await numbersOf(page, "q")).toEqual([2, 1, 0, 1, 1, 0, 0.5, 0.5]);
    await expect(page).toHaveURL(/step=scores/);
  });
});

test.describe("permalink", () => {
  test("the address is the state: position and inputs come back in another tab", async ({
    page,
    site,
    context,
  }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "scores" }));
    await cell(page, "q", 1, 0).locator("input").fill("-1.25");
    await expect(page).toHaveURL(/q=1_1_-1.25_1_1_0_0.5_0.5/);
    const other = await context.newPage();
    await open(other, page.url());
    expect(await numbersOf(other, "scores")).toEqual(await numbersOf(page, "scores"));
    await expect(other.locator("#step")).toHaveText((await page.locator("#step").textContent()) ?? "");
  });

  test("Copy link copies exactly this state, without waiting for the address", async ({
    page,
    site,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open(page, site, addressOf({ lesson: "leak", step: "replace" }));
    await cell(page, "future", 4, 1).locator("input").fill("9.5");
    await page.getByRole("button", { name: "Copy link" }).click();
    await expect(page.getByText("Link copied")).toBeVisible();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const { link } = readLink(new URL(copied).search);
    expect(link.place).toEqual({ lesson: "leak", step: "replace" });
    expect(link.inputs.future).toEqual([{ row: 4, col: 1, value: 9.5 }]);
  });

  test("where copying is refused the link is shown instead", async ({ page, site }) => {
    await page.addInitScript(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
    });
    await open(page, site, addressOf({ lesson: "masks", step: "both" }));
    await page.getByRole("button", { name: "Copy link" }).click();
    await expect(page.locator(".by-hand input")).toHaveValue(/lesson=masks&step=both/);
  });

  test("Back and Forward walk through steps, not through keystrokes, and lose no input", async ({
    page,
    site,
  }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
    await page.keyboard.press("ArrowRight");
    await expect(page).toHaveURL(/step=scores/);
    await cell(page, "q", 0, 0).locator("input").fill("8");
    await page.locator("#step").focus();
    await page.keyboard.press("ArrowRight");
    await expect(page).toHaveURL(/step=scaled/);
    await page.goBack();
    await expect(page).toHaveURL(/step=scores/);
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "8");
    await page.goBack();
    await expect(page).toHaveURL(/step=inputs/);
    // This entry is older than the edit; undo has it back.
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "1");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "8");
    await page.goForward();
    await expect(page).toHaveURL(/step=scores/);
  });

  test("a step opens in a new tab by its own address", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "masks", step: "causal" }, "zh", "&keep=1111"));
    const href = await page.locator(".strip a").first().getAttribute("href");
    expect(href).toBe("?lesson=formula&step=inputs&lang=zh&keep=1111");
  });
});
