import type { Page } from "@playwright/test";
import { glossary } from "../../web/src/content/glossary.ts";
import { ui } from "../../web/src/content/ui.ts";
import { violations } from "./axe.ts";
import { addressOf, cell, expect, open, places, test, turnTo } from "./fixtures.ts";

const tip = (page: Page) => page.getByRole("tooltip");
const results = (page: Page) => page.getByRole("dialog").locator("[data-glossary]");

/** Letters that only count, or stand for anything: of a row, a key, an entry, a step, a head, a pair, a number. */
const indices = new Set(["i", "j", "e", "t", "h", "a", "b", "C"]);

/** A symbol without its indices; a matrix of vectors as the vector, each of the three projections as W. */
const baseOf = (symbol: string) =>
  symbol
    .replace(/^W[hQKV]*$/, "w")
    .replace(/(?<=.)(?:[ijteh]{1,2}|Cj|C|\d|[ijt]\+1|j∗)$/, "")
    .replace(/^[QKVXS]$/, (letter) => letter.toLowerCase());

/** Letters of the formulae that explain nothing, those that do with their terms, and what is listed below. */
function symbolsShown(list: string) {
  const textOf = (element: Element) => (element.textContent ?? "").replaceAll(/[\s\u200b]/g, "");
  const letters = [...document.querySelectorAll(".formula .katex-html .mathnormal")];
  const marks = [...document.querySelectorAll<HTMLElement>(".formula .katex-html [data-term]")];
  const buttons = [...document.querySelectorAll<HTMLElement>(`ul[aria-label="${list}"] button`)];
  return {
    unmarked: letters.flatMap((letter) =>
      letter.closest("[data-term]") === null ? [...textOf(letter)] : [],
    ),
    marked: marks.map((mark) => [mark.dataset["term"] ?? "", textOf(mark)] as const),
    listed: buttons.map((button) => {
      const html = button.querySelector(".katex-html");
      return [button.dataset["term"] ?? "", html === null ? "" : textOf(html)] as const;
    }),
  };
}

test.describe("a symbol explains itself", () => {
  test("in a formula, on hover; where the keyboard reaches it, on focus; Escape sends it away", async ({
    page,
    site,
  }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "scaled" }));
    await expect(tip(page)).toBeHidden();
    await page.locator(".formula .katex-html [data-term=key]").first().hover();
    await expect(tip(page)).toContainText(glossary.key.name.en);
    await expect(tip(page)).toContainText(glossary.key.name.zh);
    await page.keyboard.press("Escape");
    await expect(tip(page)).toBeHidden();

    const button = page.getByRole("list", { name: ui.symbols.en }).locator("button[data-term=head-dim]");
    await button.focus();
    await expect(tip(page)).toContainText(glossary["head-dim"].name.en);
    await expect(button).toHaveAccessibleDescription(/how many entries/i);
    expect(await violations(page)).toEqual([]);
    await button.blur();
    await page.locator("#step").focus();
    await expect(tip(page)).toBeHidden();
  });

  test("in a matrix: headers by pointer and by arrow key", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "scaled" }));
    await page.locator("[data-grid=masked] th[scope=col] [data-term]").first().hover();
    await expect(tip(page)).toContainText(glossary.key.name.en);
    await cell(page, "masked", 0, 0).focus();
    await expect(tip(page)).toBeHidden();
    await page.keyboard.press("ArrowLeft");
    await expect(page.locator("[data-grid=masked] th[data-row='0']")).toBeFocused();
    await expect(tip(page)).toContainText(glossary.query.name.en);
    await page.keyboard.press("ArrowRight");
    await expect(cell(page, "masked", 0, 0)).toBeFocused();
  });

  test("every letter that heads a row or a column has a term", async ({ page, site }) => {
    test.slow();
    const unexplained = new Set<string>();
    await open(page, site, "?lang=en");
    for (const place of places) {
      await turnTo(page, place);
      const letters = page.locator("[data-grid] th .sym:not([data-term]) .name:not(.upright)");
      for (const letter of await letters.allTextContents()) if (letter !== "") unexplained.add(letter);
    }
    expect([...unexplained]).toEqual([]);
  });

  test("a step’s formulae and its row of symbols hold the same symbols", async ({ page, site }) => {
    test.slow();
    const astray: string[] = [];
    await open(page, site, "?lang=en");
    for (const place of places) {
      await turnTo(page, place);
      const { unmarked, marked, listed } = await page.evaluate(symbolsShown, ui.symbols.en);
      const loose = unmarked.filter((letter) => !indices.has(letter));
      const unlisted = marked.filter(([term, symbol]) => {
        const forms = listed.filter(([of]) => of === term).flatMap(([, text]) => text.split(","));
        return !forms.map(baseOf).includes(baseOf(symbol));
      });
      const idle = listed.filter(([of]) => !marked.some(([term]) => term === of));
      for (const symbol of [...loose, ...unlisted, ...idle]) {
        astray.push(`${place.lesson} ${place.step}: ${String(symbol)}`);
      }
    }
    expect(astray).toEqual([]);
  });
});

test.describe("the glossary", () => {
  test("opens by key, has every term in both languages, and is clean", async ({ page, site }) => {
    for (const language of ["zh", "en"] as const) {
      await open(page, site, addressOf({ lesson: "formula", step: "inputs" }, language));
      await page.keyboard.press("/");
      await expect(page.getByRole("searchbox", { name: ui.searchTerms[language] })).toBeFocused();
      await expect(results(page)).toHaveCount(Object.keys(glossary).length);
      for (const { name } of Object.values(glossary).slice(0, 5)) {
        await expect(page.getByRole("dialog")).toContainText(name.zh);
        await expect(page.getByRole("dialog")).toContainText(name.en);
      }
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toBeHidden();
    }
  });

  for (const [query, first] of [
    ["causal", "causal"],
    ["查询", "query"],
    ["GQA", "gqa"],
    ["d_k", "head-dim"],
    ["logits", "scores"],
  ] as const) {
    test(`“${query}” finds ${first} first`, async ({ page, site }) => {
      await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
      await page.getByRole("button", { name: ui.glossary.en }).click();
      await page.getByRole("searchbox").fill(query);
      await expect(results(page).first()).toHaveAttribute("data-glossary", first);
    });
  }

  test("finds steps too, and leads there; says so where there is nothing", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
    await page.keyboard.press("/");
    await page.getByRole("searchbox").fill("zzz");
    await expect(page.getByRole("dialog").getByRole("status")).toHaveText(ui.nothingFound.en);
    await page.getByRole("searchbox").fill("lower triangle");
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /Hide the future/ })
      .click();
    await expect(page).toHaveURL(/lesson=masks&step=causal/);
    await expect(page.getByRole("dialog")).toBeHidden();
  });
});
