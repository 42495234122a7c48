import { lessons } from "../../web/src/content/index.ts";
import { addressOf, cell, expect, open, places, settled, test, turnTo } from "./fixtures.ts";

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true });

  for (const language of ["zh", "en"] as const) {
    test(`no step is wider than the screen, what scrolls shows it, and cells are 40 px to the finger (${language})`, async ({
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
        const { overflow, smallest, unhinted, unreachable, cut } = await page.evaluate(() => {
          const frames = [...document.querySelectorAll<HTMLElement>("main *:not(input)")].filter(
            (node) =>
              /auto|scroll/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1,
          );
          return {
            unhinted: frames.filter((node) => {
              const { content, display, position } = getComputedStyle(node, "::before");
              return content === "none" || display === "none" || position !== "sticky";
            }).length,
            unreachable: frames.filter(
              (node) => !node.matches("[tabindex='0']") && !node.querySelector("[tabindex='0']"),
            ).length,
            // That begins in sight, and does not end there.
            cut: [...document.querySelectorAll(".matrix figcaption")].flatMap((title) => {
              const parts = [...title.children].map((part) => part.getBoundingClientRect());
              const frame = title.closest(".sideways")?.getBoundingClientRect().right ?? innerWidth;
              const [left, right] = [
                Math.min(...parts.map((part) => part.left)),
                Math.max(...parts.map((part) => part.right)),
              ];
              return left < frame && right > Math.min(frame, innerWidth) ? [title.textContent] : [];
            }),

            overflow: document.documentElement.scrollWidth - innerWidth,
            smallest: Math.min(
              ...[...document.querySelectorAll("[data-grid] td[data-row]")].flatMap((cell) => {
                const { width, height } = cell.getBoundingClientRect();
                return [width, height];
              }),
            ),
          };
        });
        expect(overflow, place.step).toBeLessThanOrEqual(0);
        expect(unhinted, `${place.step}: boxes that do not show that they scroll`).toBe(0);
        expect(unreachable, `${place.step}: boxes that scroll without the keyboard`).toBe(0);
        expect(cut, place.step).toEqual([]);
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

test("the chapter’s numbers stand in line with the rows that they are of", async ({ page, site }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const [step, grid, rows] of [
    ["scores", "scores", 4],
    ["scaled", "masked", 4],
    ["output", "output", 1],
  ] as const) {
    await open(page, site, addressOf({ lesson: "formula", step }));
    const printed = page.locator(".chapter tr");
    await expect(printed).toHaveCount(rows);
    for (let row = 0; row < rows; row += 1) {
      const [one, other] = [
        await printed.nth(row).boundingBox(),
        await cell(page, grid, row, 0).boundingBox(),
      ];
      expect(Math.abs((one?.y ?? NaN) - (other?.y ?? NaN)), `${step} ${String(row)}`).toBeLessThan(1);
    }
  }
});

test("the list keeps the current step in sight", async ({ page, site }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const current = page.locator("aside [aria-current=step]");
  await open(page, site, addressOf({ lesson: "minimind", step: "labs" }));
  await expect(current).toBeInViewport({ ratio: 1 });
  expect(await page.evaluate(() => scrollY)).toBe(0);
  for (const step of lessons.minimind.steps.slice(0, -1).reverse()) {
    await page.keyboard.press("ArrowLeft");
    await expect(current).toHaveText(step.title.en);
    await expect(current).toBeInViewport({ ratio: 1 });
  }
});

test("lines of a plot are told apart by colour and by shape", async ({ page, site }) => {
  await open(page, site);
  for (const place of [
    { lesson: "lookup", step: "temperature" },
    { lesson: "cost", step: "measure" },
  ] as const) {
    await turnTo(page, place);
    const looks = await page.locator("[data-plot] .series svg").evaluateAll((marks) =>
      marks
        .filter((mark) => mark.childElementCount === 2)
        .map((mark) => {
          const [line, shape] = mark.children;
          return {
            colour: line && getComputedStyle(line).stroke,
            shape: `${String(line && getComputedStyle(line).strokeDasharray)} ${String(shape?.tagName)}`,
          };
        }),
    );
    expect(looks.length).toBeGreaterThan(2);
    expect(new Set(looks.map(({ colour }) => colour)).size, place.step).toBe(looks.length);
    expect(new Set(looks.map(({ shape }) => shape)).size, place.step).toBe(looks.length);
  }
  // Nothing has been measured: words, not an empty frame.
  await expect(page.locator("[data-plot] .canvas")).toHaveText(/^No points yet/);
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

test("the hint of what scrolls stays below the arithmetic that sticks above it", async ({ page, site }) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await open(page, site, addressOf({ lesson: "leak", step: "no-mask" }));
  await cell(page, "outputAfter", 1, 1).click();
  const sticks = page.locator(".readout.follows");
  await expect(sticks).toBeInViewport();
  const readout = (await sticks.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const shot = () => page.screenshot({ animations: "disabled", clip: readout });
  const before = await shot();
  await page.evaluate(() => {
    for (const frame of document.querySelectorAll<HTMLElement>(".sideways"))
      frame.style.setProperty("--hint", "none");
  });
  expect((await shot()).equals(before)).toBe(true);
});

test("lines of a plot that stand for themselves have a colour each", async ({ page, site }) => {
  for (const [place, lines] of [
    [{ lesson: "lookup", step: "temperature" }, 4],
    [{ lesson: "cost", step: "measure" }, 3],
  ] as const) {
    await open(page, site, addressOf(place));
    const legend = page.locator(".plot .series svg:has(:nth-child(2))");
    await expect(legend).toHaveCount(lines);
    const colours = await legend.evaluateAll((all) =>
      all.map((one) => one.firstElementChild && getComputedStyle(one.firstElementChild).stroke),
    );
    expect(new Set(colours).size).toBe(lines);
  }
});

test("a rule stands between what is computed and what is said of it", async ({ page, site }) => {
  await open(page, site, addressOf({ lesson: "leak", step: "no-mask" }));
  await cell(page, "outputAfter", 1, 1).click();
  const rules = page.locator(".readout .apart");
  await expect(rules).toHaveCount(2);
  const widths = await rules.evaluateAll((all) => all.map((one) => getComputedStyle(one).borderRightWidth));
  expect(widths).toEqual(["1px", "1px"]);
});
