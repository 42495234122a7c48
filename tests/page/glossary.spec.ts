import type { Page } from "@playwright/test";
import { glossary } from "../../web/src/content/glossary.ts";
import { ui } from "../../web/src/content/ui.ts";
import { violations } from "./axe.ts";
import { addressOf, cell, expect, open, places, test, turnTo } from "./fixtures.ts";

const tip = (page: Page) => page.getByRole("tooltip");
const results = (page: Page) => page.getByRole("dialog").locator("[data-glossary]");

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

  test("every letter that heads a row or a column has a term, and every formula a symbol", async ({
    page,
    site,
  }) => {
    test.slow();
    const unexplained = new Set<string>();
    const bare = new Set<string>();
    await open(page, site, "?lang=en");
    for (const place of places) {
      await turnTo(page, place);
      const letters = page.locator("[data-grid] th .sym:not([data-term]) .name:not(.upright)");
      for (const letter of await letters.allTextContents()) if (letter !== "") unexplained.add(letter);
      const symbols = page.getByRole("list", { name: ui.symbols.en });
      if ((await page.locator(".formula").count()) > 0 && (await symbols.count()) === 0) bare.add(place.step);
    }
    expect([...unexplained]).toEqual([]);
    expect([...bare]).toEqual([]);
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
