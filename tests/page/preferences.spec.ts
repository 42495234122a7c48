import type { Page } from "@playwright/test";
import { lessons } from "../../web/src/content/index.ts";
import { expect, open, test } from "./fixtures.ts";

const expectLanguage = async (page: Page, language: "zh" | "en") => {
  await expect(page.locator("html")).toHaveAttribute("lang", language === "zh" ? "zh-Hans" : "en");
  await expect(page.locator("h1")).toHaveText(lessons.lookup.question[language]);
  await expect(page).toHaveTitle(new RegExp(lessons.lookup.title[language]));
};
const choose = (page: Page, name: "中文" | "English") =>
  page.locator(".languages").getByRole("button", { name }).click();

test.describe("language", () => {
  test.describe("of a Chinese browser", () => {
    test.use({ locale: "zh-CN" });
    test("is Chinese", async ({ page, site }) => {
      await open(page, site);
      await expectLanguage(page, "zh");
    });
  });

  test.describe("of an English browser", () => {
    test.use({ locale: "en-GB" });
    test("is English", async ({ page, site }) => {
      await open(page, site);
      await expectLanguage(page, "en");
    });
  });

  test.describe("of a browser that speaks neither", () => {
    test.use({ locale: "fr-FR" });
    test("is English", async ({ page, site }) => {
      await open(page, site);
      await expectLanguage(page, "en");
    });
  });

  test("a choice is remembered, and a link comes before it", async ({ page, site }) => {
    await open(page, site);
    await choose(page, "中文");
    await expectLanguage(page, "zh");
    await expect(page).toHaveURL(/lang=zh/);
    await open(page, site);
    await expectLanguage(page, "zh");
    await open(page, site, "?lang=en");
    await expectLanguage(page, "en");
    await open(page, site);
    await expectLanguage(page, "zh");
  });

  test("switching it keeps position and inputs", async ({ page, site }) => {
    await open(page, site, "?lesson=masks&step=causal&lang=en&mask=1111111111111111");
    await choose(page, "中文");
    await expect(page).toHaveURL(/lesson=masks&step=causal&lang=zh&mask=1111111111111111/);
    await expect(page.locator("#step")).toHaveText("遮住未来");
  });
});

test.describe("theme", () => {
  const paper = (page: Page) =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

  test("follows the system until one is chosen, which is remembered", async ({ page, site }) => {
    await page.emulateMedia({ colorScheme: "light" });
    await open(page, site, "?lang=en");
    const light = await paper(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await paper(page);
    expect(dark).not.toBe(light);
    await page.locator(".bar").getByLabel("Theme").selectOption("light");
    await expect.poll(() => paper(page)).toBe(light);
    await open(page, site, "?lang=en");
    await expect.poll(() => paper(page)).toBe(light);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator(".bar").getByLabel("Theme").selectOption("dark");
    await expect.poll(() => paper(page)).toBe(dark);
  });
});

test("a theme that was chosen is there before anything is painted", async ({ page, site }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.addInitScript(() => {
    localStorage.setItem("softlookup.theme", "dark");
  });
  // The page without its program.
  await page.route("**/*.js", (route) => route.fulfill({ body: "", contentType: "text/javascript" }));
  await page.goto(site);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("works where storage is refused", async ({ page, site }) => {
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, "localStorage", {
      get() {
        throw new DOMException("denied", "SecurityError");
      },
    });
  });
  await open(page, site);
  await choose(page, "中文");
  await expectLanguage(page, "zh");
});

test.describe("reduced motion", () => {
  test("is kept", async ({ page, site }) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await open(page, site, "?lesson=formula&step=scores");
    const durations = await page.evaluate(() =>
      [...document.querySelectorAll("*")].map((node) => getComputedStyle(node).transitionDuration),
    );
    expect(new Set(durations)).toEqual(new Set(["0s"]));
  });

  test("and without it no transition is longer than 200 ms", async ({ page, site }) => {
    await open(page, site, "?lesson=formula&step=scores");
    const longest = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll("*")].flatMap((node) =>
          getComputedStyle(node)
            .transitionDuration.split(",")
            .map((duration) => parseFloat(duration)),
        ),
      ),
    );
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThanOrEqual(0.2);
  });
});
