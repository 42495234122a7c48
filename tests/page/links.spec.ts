import fc from "fast-check";
import { candidates } from "../../web/src/content/leak.ts";
import { ties } from "../../web/src/state/fields/scale.ts";
import { codecOf, defaults, fitted, inputKeys, type Inputs, sameInput } from "../../web/src/state/inputs.ts";
import { type Link, readLink, writeLink } from "../../web/src/state/url.ts";
import { addressOf, cell, expect, numbersOf, open, places, test } from "./fixtures.ts";

const number = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
/** What inputs that are one of several may be: numbers, and every id that a text of the page stands under. */
const choices = [
  ...Array.from({ length: 10_000 }, (_, index) => String(index)),
  ...Array.from({ length: 18 }, (_, power) => String(2 ** power)),
  ...Array.from({ length: 100 }, (_, index) => String(index / 20)),
  ...Object.keys(candidates),
  ...ties,
  ...places.map(({ step }) => step),
];

/** What may be written for an input, by what it is at first; its codec decides whether that is a value. */
function written(key: keyof Inputs): fc.Arbitrary<string> {
  const initial = defaults[key];
  if (typeof initial === "number" || typeof initial === "string") {
    return fc.constantFrom(...choices.filter((text) => codecOf(key).read(text) !== undefined));
  }
  const edit = fc.tuple(fc.nat(9), fc.nat(9), number).map(([row, col, value]) => `${row}*${col}*${value}`);
  if (initial.length === 0) return fc.array(edit, { maxLength: 9 }).map((edits) => edits.join("_"));
  const { length } = initial;
  return typeof initial[0] === "boolean"
    ? fc.string({ unit: fc.constantFrom("0", "1"), minLength: length, maxLength: length })
    : fc.array(number, { minLength: length, maxLength: length }).map((numbers) => numbers.join("_"));
}

const inputs: fc.Arbitrary<Inputs> = fc
  .record(Object.fromEntries(inputKeys.map((key) => [key, written(key)])), { requiredKeys: [] })
  .map((texts) =>
    Object.entries(texts).reduce<Inputs>((all, [key, text]) => {
      const value = codecOf(key as keyof Inputs).read(text ?? "");
      return value === undefined ? all : { ...all, [key]: value };
    }, defaults),
  )
  .map(fitted);

/** Any state that the page can be in. */
const links: fc.Arbitrary<Link> = fc.record({
  place: fc.constantFrom(...places),
  language: fc.constantFrom("zh", "en", undefined),
  embedded: fc.boolean(),
  inputs,
});

test("any state survives being written as a link and read again", () => {
  const changed = new Set<string>();
  fc.assert(
    fc.property(links, (link) => {
      const { link: read, understood } = readLink(writeLink(link));
      expect(understood).toBe(true);
      expect(read).toEqual(link);
      for (const key of inputKeys) if (!sameInput(key, link.inputs, defaults)) changed.add(key);
    }),
    { numRuns: 500 },
  );
  // Nothing that a reader can change was left out.
  expect([...changed].sort()).toEqual([...inputKeys].sort());
});

test("no link whatever throws, and what comes of it can be written again", () => {
  const keys = ["lesson", "step", "lang", "embed", ...Object.keys(defaults)];
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
  expect(writeLink({ place, inputs: defaults, language: undefined, embedded: false })).toBe(
    "?lesson=formula&step=scores",
  );
  expect(
    writeLink({
      place,
      inputs: { ...defaults, keep: [true, false, true, false] },
      language: "zh",
      embedded: false,
    }),
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
  "a fault that nobody makes": "?lesson=leak&step=others&fault=toString",
  "heads that do not divide the width": "?lesson=heads&step=split&headsDim=6&headsCount=4",
  "a width that makes odd heads": "?lesson=minimind&step=rope&mmHidden=8&mmHeads=8",
  "a window wider than the sequence": "?lesson=cost&step=window&costTokens=4&costWindow=8",
  "a temperature of zero": "?lesson=lookup&step=soft&temperature=0",
  "a temperature that is not offered": "?lesson=lookup&step=soft&temperature=0.3",
  "a matrix that nobody shares": "?lesson=scale&step=merged&tie=valueOf",
  "a width without bounds": "?lesson=scale&step=saturation&width=1e9",
  "a position that is not generated": "?lesson=cache&step=row&generated=3&position=7",
  "a language that is not spoken here": "?lang=fr",
  "something embedded that is no lesson": "?embed=page",
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
