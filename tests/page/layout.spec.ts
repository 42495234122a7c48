import { addressOf, expect, open, places, settled, test, turnTo } from "./fixtures.ts";

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true });

  for (const language of ["zh", "en"] as const) {
    test(`no step is wider than the screen, and cells are 40 px to the finger (${language})`, async ({
      page,
      site,
    }) => {
      test.setTimeout(places.length * 2000);
      await open(page, site);
      for (const place of places) {
        await turnTo(page, place, language, "&length=10&dim=8");
        await settled(page);
        const shown =
          "[data-grid] td, [data-listing] td, [data-plot] svg, [data-printout], [data-bytes], [data-fault]";
        await expect(page.locator(shown).first()).toBeVisible();
        const { overflow, smallest } = await page.evaluate(() => ({
          overflow: document.documentElement.scrollWidth - innerWidth,
          smallest: Math.min(
            ...[...document.querySelectorAll("[data-grid] td[data-row]")].flatMap((cell) => {
              const { width, height } = cell.getBoundingClientRect();
              return [width, height];
            }),
          ),
        }));
        expect(overflow, place.step).toBeLessThanOrEqual(0);
        expect(smallest, place.step).toBeGreaterThanOrEqual(40);
      }
    });
  }

  test("a wide matrix scrolls in its own frame, and its row headers stay", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "leak", step: "no-mask" }, "en", "&length=10"));
    const frame = page.locator("[data-grid=weightsBefore] .frame");
    const header = frame.locator("th[scope=row]").first();
    const before = await header.boundingBox();
    await frame.evaluate((node) => {
      node.scrollLeft = 100;
    });
    expect(await frame.evaluate((node) => node.scrollLeft)).toBe(100);
    expect((await header.boundingBox())?.x).toBe(before?.x);
  });

  test("the lessons are in a drawer, which a choice or Escape closes", async ({ page, site }) => {
    await open(page, site, "?lang=en");
    const drawer = page.getByRole("dialog");
    await expect(drawer).toBeHidden();
    await page.getByRole("button", { name: "Open the list of lessons" }).click();
    await expect(drawer).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(drawer).toBeHidden();
    await page.getByRole("button", { name: "Open the list of lessons" }).click();
    await drawer.getByRole("link", { name: "The leak check" }).click();
    await expect(drawer).toBeHidden();
    await expect(page).toHaveURL(/lesson=leak&step=tokens/);
  });

  test("the buttons stay in reach", async ({ page, site }) => {
    await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
    await expect(page.locator("main .primary")).toBeInViewport();
  });
});

test("on a wide screen the lessons stand beside the text", async ({ page, site }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
  const list = page.locator("aside").getByRole("navigation");
  await expect(list).toBeVisible();
  await expect(list.locator("[aria-current=step]")).toHaveText("Three matrices go in");
  await list.getByRole("link", { name: "Blend the values" }).click();
  await expect(page).toHaveURL(/step=output/);
});

test("rows and columns of a product stand in line with the result", async ({ page, site }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page, site, addressOf({ lesson: "formula", step: "scores" }));
  const box = async (grid: string, row: number, col: number) => {
    const found = await page
      .locator(`[data-grid="${grid}"] td[data-row="${String(row)}"][data-col="${String(col)}"]`)
      .boundingBox();
    if (!found) throw new Error(`${grid} has no box`);
    return found;
  };
  for (const index of [0, 1, 2, 3]) {
    expect(Math.abs((await box("q", index, 0)).y - (await box("scores", index, 0)).y)).toBeLessThan(1);
    expect(Math.abs((await box("kT", 0, index)).x - (await box("scores", 0, index)).x)).toBeLessThan(1);
  }
});

test("the skip link leads to the lesson", async ({ page, site }) => {
  await open(page, site, "?lang=en");
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: "Skip to the lesson" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
  await expect(page.locator("#step")).toBeVisible();
});
