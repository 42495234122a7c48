import { addressOf, cell, expect, open, test } from "./fixtures.ts";

test("a step prints as a hand-out: its text and current numbers, light, without the page’s tools", async ({
  page,
  site,
}) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.setViewportSize({ width: 700, height: 990 }); // A4 between its margins
  await open(page, site, addressOf({ lesson: "formula", step: "scores" }, "en", "&q=7_1_0_1_1_0_0.5_0.5"));
  for (const tool of ["header.bar", "aside", ".strip", ".toolbar", ".export", ".steps", ".buttons"]) {
    await expect(page.locator(tool).first(), tool).toBeHidden();
  }
  await expect(page.locator("h1")).toBeVisible();
  await expect(page.locator(".formula").first()).toBeVisible();
  await expect(cell(page, "scores", 0, 0)).toHaveText("8");
  await expect(cell(page, "scores", 0, 0)).toBeVisible();
  await expect(page.locator(".questions")).toBeVisible();
  const { paper, wider } = await page.evaluate(() => ({
    paper: getComputedStyle(document.documentElement).backgroundColor,
    wider: document.documentElement.scrollWidth - innerWidth,
  }));
  expect(paper).toBe("rgb(253, 253, 251)");
  // A zero is paper too, not the dark theme’s ground.
  await expect(cell(page, "scores", 1, 2)).toHaveCSS("background-color", "rgb(255, 255, 255)");
  expect(wider).toBeLessThanOrEqual(0);
});
