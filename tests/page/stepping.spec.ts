import type { Page } from "@playwright/test";
import { lessons } from "../../web/src/content/index.ts";
import type { Place } from "../../web/src/content/lesson.ts";
import type { Language } from "../../web/src/content/text.ts";
import { ui } from "../../web/src/content/ui.ts";
import { violations } from "./axe.ts";
import { addressOf, expect, loaded, open, places, settled, test } from "./fixtures.ts";

async function expectAt(page: Page, { lesson, step }: Place, language: Language): Promise<void> {
  const { title, question, steps } = lessons[lesson];
  const stepTitle = steps.find(({ id }) => id === step)?.title[language] ?? "";
  await expect(page.locator("#step")).toHaveText(stepTitle);
  await expect(page.locator("h1")).toHaveText(question[language]);
  await expect(page).toHaveURL(new RegExp(`lesson=${lesson}&step=${step}(&|$)`));
  await expect(page).toHaveTitle(`${stepTitle} · ${title[language]} · softlookup`);
  await loaded(page);
}

const nextButton = (page: Page) => page.locator("main .primary");

/** Seconds for a step with everything that axe looks at, on a busy machine. */
const perStep = 4;

// Each language and each theme once: colours do not depend on the words, nor words on the colours.
for (const [language, colorScheme] of [
  ["zh", "dark"],
  ["en", "light"],
] as const) {
  test.describe(`${language}, ${colorScheme}`, () => {
    test.use({ colorScheme });

    test("every step by button, each without a fault that axe can find", async ({ page, site }) => {
      test.setTimeout(places.length * perStep * 1000);
      await open(page, site, `?lang=${language}`);
      for (const [index, place] of places.entries()) {
        await expectAt(page, place, language);
        await settled(page);
        expect(await violations(page)).toEqual([]);
        if (index < places.length - 1) await nextButton(page).click();
      }
      await expect(nextButton(page)).toBeDisabled();
    });
  });
}

test("every step by arrow key alone, there in English and back in Chinese", async ({ page, site }) => {
  test.setTimeout(places.length * perStep * 1000);
  await open(page, site, "?lang=en");
  for (const place of places) {
    await expectAt(page, place, "en");
    await page.keyboard.press("ArrowRight");
  }
  await page.locator(".languages").getByRole("button", { name: "中文" }).click();
  for (const place of [...places].reverse()) {
    await expectAt(page, place, "zh");
    await page.keyboard.press("ArrowLeft");
  }
});

test("a lesson opens with its question and its sources, and ends with what was seen", async ({
  page,
  site,
}) => {
  for (const { id, question, lede, sources, steps, seen } of Object.values(lessons)) {
    const [first, last] = [steps[0]?.id ?? "", steps.at(-1)?.id ?? ""];
    await open(page, site, addressOf({ lesson: id, step: first }));
    await expect(page.locator("h1")).toHaveText(question.en);
    await expect(page.locator(".lede")).toContainText(lede.en.slice(0, 20));
    for (const { text } of sources) await expect(page.locator(".sources")).toContainText(text.en);
    await open(page, site, addressOf({ lesson: id, step: last }));
    await expect(page.locator(".seen li")).toHaveCount(seen.length);
  }
});

test("announces every change of step", async ({ page, site }) => {
  await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
  const live = page.locator("[aria-live=polite]");
  await expect(live).toHaveText("The formula, step 1 of 8: Three matrices go in");
  await page.keyboard.press("ArrowRight");
  await expect(live).toHaveText("The formula, step 2 of 8: Every query meets every key");
});

test.describe("the strip", () => {
  test("lights the present operation, each leads to its own step", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "exp" }));
    const strip = page.locator(".strip");
    await expect(strip.locator("a")).toHaveCount(6);
    await expect(strip.locator("[aria-current=step]")).toHaveText("softmax");
    for (const [index, step] of ["inputs", "scores", "scaled", "causal", "row-max", "output"].entries()) {
      await open(page, site, addressOf({ lesson: "formula", step: "exp" }));
      await strip.locator("a").nth(index).click();
      await expect(page).toHaveURL(new RegExp(`step=${step}(&|$)`));
    }
  });

  test("shows a mask that is missing, and one that comes too late", async ({ page, site }) => {
    const items = page.locator(".strip li");
    await open(page, site, addressOf({ lesson: "leak", step: "no-mask" }));
    await expect(items.nth(3)).toContainText(ui.stripMissing.en);
    await open(page, site, addressOf({ lesson: "leak", step: "after-softmax" }));
    await expect(items.nth(3)).toHaveText("softmax");
    await expect(items.nth(4)).toContainText(ui.stripMisplaced.en);
  });
});

test("the formula lights the terms of the step", async ({ page, site }) => {
  await open(page, site, addressOf({ lesson: "formula", step: "scores" }));
  await expect(page.locator(".formula .lit")).toHaveClass(/t-scores/);
  await page.keyboard.press("ArrowRight");
  await expect(page.locator(".formula .lit")).toHaveClass(/t-scaled/);
});
