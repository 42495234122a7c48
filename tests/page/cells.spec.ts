import type { Page } from "@playwright/test";
import { scaledDotProductAttention } from "softlookup";
import { addressOf, cell, expect, numbersOf, open, test } from "./fixtures.ts";

const readout = (page: Page) => page.locator(".readout .arithmetic");
const exact = (page: Page) => page.locator(".readout [data-exact]");
/** The arithmetic, however it is spaced. */
const expectArithmetic = (page: Page, line: string) =>
  expect
    .poll(async () => (await readout(page).innerText()).replace(/\s+/g, ""))
    .toBe(line.replace(/\s+/g, ""));

const at = (step: string, lesson: "formula" | "masks" = "formula") => addressOf({ lesson, step });

test.describe("where a number came from", () => {
  for (const [step, grid, row, col, line, value] of [
    ["scores", "scores", 0, 1, "q0 · k1 = 1×0 + 1×1 = 1", "1"],
    ["scores", "scores", 3, 3, "q3 · k3 = 0.5×0.5 + 0.5×0.5 = 0.5", "0.5"],
    ["row-max", "rowMax", 1, 0, "m1 = max(0.707, 0.707, 0, 0.354) ≈ 0.707", "0.7071067690849304"],
    ["exp", "exp", 0, 0, "exp(1.414 − 1.414) = 1", "1"],
    ["row-sum", "rowSum", 0, 0, "1 + 0.493 + 0.493 + 0.493 ≈ 2.479", undefined],
    ["weights", "weights", 0, 1, "0.493 ÷ 2.479 ≈ 0.199", undefined],
    ["output", "output", 0, 0, "0.403×1 + 0.199×0 + 0.199×1 + 0.199×0.5 ≈ 0.702", undefined],
  ] as const) {
    test(`${grid} ${String(row)},${String(col)}, on hover and on focus`, async ({ page, site }) => {
      await open(page, site, at(step));
      await cell(page, grid, row, col).hover();
      await expectArithmetic(page, line);
      const shown = (await numbersOf(page, grid)).at(
        row * (grid === "output" ? 2 : grid.startsWith("row") ? 1 : 4) + col,
      );
      await expect(exact(page)).toHaveText(value ?? String(shown));

      // Elsewhere, then the same cell by keyboard.
      await cell(page, grid, 2, 0).focus();
      await expect(cell(page, grid, 2, 0)).toHaveClass(/active/);
      await cell(page, grid, row, col).focus();
      await expectArithmetic(page, line);
      await expect(cell(page, grid, row, col)).toHaveAttribute("aria-describedby", /readout/);
    });
  }

  test("the row and the column that made a score light up, and nothing else", async ({ page, site }) => {
    await open(page, site, at("scores"));
    await cell(page, "scores", 2, 1).hover();
    await expect(page.locator("td.lit")).toHaveCount(4);
    for (const col of [0, 1]) await expect(cell(page, "q", 2, col)).toHaveClass(/lit/);
    for (const row of [0, 1]) await expect(cell(page, "kT", row, 1)).toHaveClass(/lit/);
  });

  test("a masked score and a struck-out weight", async ({ page, site }) => {
    await open(page, site, at("padding-masked", "masks"));
    await cell(page, "masked", 0, 3).hover();
    await expectArithmetic(page, "2 + (−∞) = −∞");
    await open(page, site, at("wrong-row", "masks"));
    await cell(page, "wrong", 0, 3).hover();
    await expectArithmetic(page, "0.251 × 0 = 0");
  });
});

test.describe("by keyboard inside a matrix", () => {
  test("one cell is in the tab order; arrows, Home and End move, and do not change the step", async ({
    page,
    site,
  }) => {
    await open(page, site, at("scaled"));
    await expect(page.locator("[data-grid=masked] [tabindex='0']")).toHaveCount(1);
    await cell(page, "masked", 0, 0).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await expect(cell(page, "masked", 1, 1)).toBeFocused();
    await page.keyboard.press("End");
    await expect(cell(page, "masked", 1, 3)).toBeFocused();
    await page.keyboard.press("ArrowRight");
    await expect(cell(page, "masked", 1, 3)).toBeFocused();
    await page.keyboard.press("Home");
    await expect(cell(page, "masked", 1, 0)).toBeFocused();
    await expect(page.locator("[data-grid=masked] [tabindex='0']")).toHaveCount(1);
    await expect(page).toHaveURL(/step=scaled/);
  });

  test("Escape leaves it, and the arrows change the step again", async ({ page, site }) => {
    await open(page, site, at("scaled"));
    await cell(page, "masked", 0, 0).focus();
    await page.keyboard.press("Escape");
    await expect(page.locator("#step")).toBeFocused();
    await page.keyboard.press("ArrowRight");
    await expect(page).toHaveURL(/step=row-max/);
  });

  test("arrows move the caret in a number that is being typed, and from cell to cell otherwise", async ({
    page,
    site,
  }) => {
    await open(page, site, at("inputs"));
    const first = cell(page, "q", 0, 0).locator("input");
    await first.focus();
    await page.keyboard.type("12");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("5");
    await expect(first).toHaveValue("152");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await expect(cell(page, "q", 0, 1).locator("input")).toBeFocused();
    await page.keyboard.press("ArrowDown");
    await expect(cell(page, "q", 1, 1).locator("input")).toBeFocused();
    await expect(page).toHaveURL(/step=inputs/);
  });

  test("a mask is painted with Space and with a click", async ({ page, site }) => {
    await open(page, site, at("causal", "masks"));
    const future = cell(page, "keep", 0, 1).getByRole("button");
    await expect(future).toHaveAttribute("aria-pressed", "false");
    await future.focus();
    await page.keyboard.press("Space");
    await expect(future).toHaveAttribute("aria-pressed", "true");
    await expect(cell(page, "masked", 0, 1)).not.toHaveText("−∞");
    await future.click();
    await expect(future).toHaveAttribute("aria-pressed", "false");
    await expect(cell(page, "masked", 0, 1)).toHaveText("−∞");
  });
});

test.describe("editing", () => {
  test("recomputes everything after it at once", async ({ page, site }) => {
    await open(page, site, at("scores"));
    await cell(page, "q", 0, 0).locator("input").fill("-2.5");
    const q = [-2.5, 1, 0, 1, 1, 0, 0.5, 0.5];
    const k = [1, 1, 0, 1, 1, 0, 0.5, 0.5];
    const v = [1, 0, 0, 1, 1, 1, 0.5, 0.5];
    const tensor = (data: number[]) => ({ data, shape: [4, 2] });
    const { steps } = scaledDotProductAttention.trace(tensor(q), tensor(k), tensor(v));
    const pass = (id: string) => [...(steps.find((step) => step.id === id)?.tensor.data ?? [])];
    await expect.poll(() => numbersOf(page, "scores")).toEqual(pass("scores"));
    await page.locator("main .primary").click();
    await expect.poll(() => numbersOf(page, "masked")).toEqual(pass("scaled"));
    await open(
      page,
      site,
      addressOf({ lesson: "formula", step: "output" }, "en", "&q=-2.5_1_0_1_1_0_0.5_0.5"),
    );
    expect(await numbersOf(page, "output")).toEqual(pass("output"));
  });

  test("Kᵀ is edited as it stands", async ({ page, site }) => {
    await open(page, site, at("scores"));
    await cell(page, "kT", 0, 1).locator("input").fill("3");
    await expect(cell(page, "scores", 0, 1)).toHaveAttribute("data-value", "4");
    await expect(page).toHaveURL(/k=1_1_3_1_1_0_0.5_0.5/);
  });

  for (const text of ["", "abc", "1e999", "NaN", "Infinity", "1,5", "0x10", "--1", "<b>2</b>"]) {
    test(`“${text}” is refused with a message, and nothing is lost`, async ({ page, site }) => {
      await open(page, site, at("inputs"));
      const input = cell(page, "q", 0, 0).locator("input");
      const message = page.locator(".problem");
      await input.fill("7");
      await input.fill(text);
      await expect(message).toContainText(`“${text}” is not a finite number; 7 stays in use`);
      await expect(input).toHaveAttribute("aria-invalid", "true");
      await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "7");
      await input.blur();
      await expect(input).toHaveValue(text);
      await input.press("Escape");
      await expect(input).toHaveValue("7");
      await expect(message).toHaveText("");
    });
  }

  for (const [text, value] of [
    ["−2", "−2"],
    ["+.5", "0.5"],
    [" 3 ", "3"],
    ["1e-3", "0.001"],
    ["1e30", "1e30"],
  ] as const) {
    test(`“${text}” is taken as a number`, async ({ page, site }) => {
      await open(page, site, at("inputs"));
      await cell(page, "v", 2, 1).locator("input").fill(text);
      await expect(cell(page, "v", 2, 1)).toHaveAttribute("data-value", value);
      await expect(page.locator(".problem")).toHaveText("");
    });
  }

  test("undo, redo and reset; keystrokes in one cell are one step", async ({ page, site }) => {
    await open(page, site, at("inputs"));
    const [undo, redo, reset] = ["Undo", "Redo", "Reset"].map((name) =>
      page.getByRole("button", { name, exact: true }),
    );
    if (!undo || !redo || !reset) throw new Error("buttons");
    await expect(undo).toBeDisabled();
    await cell(page, "q", 0, 0).locator("input").focus();
    await page.keyboard.type("123");
    await cell(page, "k", 1, 1).locator("input").fill("-4");
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "123");
    await undo.click();
    await expect(cell(page, "k", 1, 1)).toHaveAttribute("data-value", "1");
    await undo.click();
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "1");
    await expect(undo).toBeDisabled();
    await redo.click();
    await redo.click();
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "123");
    await expect(cell(page, "k", 1, 1)).toHaveAttribute("data-value", "−4");
    await reset.click();
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "1");
    await expect(reset).toBeDisabled();
    await page.locator("#step").focus();
    await page.keyboard.press("Control+z");
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "123");
    await page.keyboard.press("Control+Shift+z");
    await expect(cell(page, "q", 0, 0)).toHaveAttribute("data-value", "1");
  });
});
