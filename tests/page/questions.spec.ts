import type { Locator, Page } from "@playwright/test";
import { lessons } from "../../web/src/content/index.ts";
import type { Question } from "../../web/src/content/question.ts";
import { ui } from "../../web/src/content/ui.ts";
import { addressOf, expect, open, test, turnTo } from "./fixtures.ts";

/**
 * Right and wrong answers, by hand: q_i · k_j stands in row i; 64 variances of 1; e^{−ln 2} / (1 + e^{−ln 2}) = 1/3;
 * a triangle's last row hides nothing; blocks of 4 end after token 3.
 */
const expected: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
  "lookup.flat": ["0.25", "1"],
  "lookup.hair": ["jump", "little"],
  "lookup.c-sees": ["3", "4"],
  "lookup.without-mask": ["moves", "still"],
  "scale.deviation": ["32", "1024"],
  "scale.even-entropy": ["4", "16"],
  "scale.shared-weights": ["lopsided", "symmetric"],
  "cache.what-is-kept": ["kv", "qkv"],
  "cache.chunk-sees": ["6", "1"],
  "cache.doubled": ["two", "four"],
  "formula.which-score": ["2.1", "1.2"],
  "formula.variance": ["64", "8"],
  "formula.unscaled": ["single", "even"],
  "formula.half-share": ["0.333", "0.25"],
  "formula.values-only": ["output", "weights"],
  "formula.merged": ["symmetric", "nothing"],
  "masks.raised": ["same", "fall"],
  "masks.generating": ["0", "5"],
  "masks.only-padding": ["3.3", "3.0"],
  "masks.after": ["less", "one"],
  "leak.late-zeros": ["move", "still"],
  "leak.one-cut": ["missed", "caught"],
  "leak.shifted": ["2.3", "2.2"],
  "heads.own-columns": ["2", "8"],
  "heads.unnoticed": ["numbers", "error"],
  "heads.head-width": ["64", "768"],
  "heads.which-is-larger": ["same", "many"],
  "minimind.rows-reached": ["4", "1"],
  "minimind.values-doubled": ["same", "sharper"],
  "minimind.blended": ["3", "4"],
  "minimind.what-is-cached": ["turned", "normed"],
  "minimind.which-cell": ["3.1", "1.3"],
  "minimind.next-token": ["yes", "no"],
  "minimind.keys-instead": ["no", "yes"],
  "minimind.home-width": ["16", "64"],
  "minimind.lab-b": ["48", "96"],
  "cost.matrix-2k": ["8", "4"],
  "cost.wider": ["four", "sixteen"],
  "cost.crossing": ["small", "large"],
  "cost.pairs-seen": ["34", "40"],
  "cost.same-function": ["other", "same"],
};

const all = Object.values(lessons).flatMap(({ id, questions = [] }) =>
  questions.map((question: Question) => ({ lesson: id, question, name: `${id}.${question.id}` })),
);

const formOf = (page: Page, name: string) => page.locator(`[data-question="${name}"]`);
const button = (form: Locator, name: string) => form.getByRole("button", { name });

async function give(form: Locator, { kind }: Question, answer: string): Promise<void> {
  if (kind === "number") await form.getByLabel(ui.yourAnswer.en).fill(answer);
  else await form.locator(`input[value="${answer}"]`).check();
  await button(form, ui.checkAnswer.en).click();
}

test("every question has an answer by hand, and a step to stand at", () => {
  expect(all.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
  for (const { lesson, question } of all) {
    expect(lessons[lesson].steps.map(({ id }) => id)).toContain(question.step);
  }
});

test("the core takes the right answer and no other, and says why", async ({ page, site }) => {
  test.slow();
  await open(page, site);
  for (const { lesson, question, name } of all) {
    const [right = "", wrong = ""] = expected[name] ?? [];
    await turnTo(page, { lesson, step: question.step });
    const form = formOf(page, name);
    const result = form.getByRole("status");
    await give(form, question, wrong);
    await expect(result, name).toContainText(ui.answerWrong.en);
    await expect(form.locator("[data-answer]"), name).toHaveCount(0);
    await give(form, question, right);
    await expect(result, name).toContainText(ui.answerRight.en);
    await expect(form.locator("[data-answer]"), name).not.toHaveText("");
    // No blank of the explanation was left open.
    await expect(result, name).not.toContainText(/[{}]|NaN/);
  }
  const counts = page.locator("aside .answered");
  await expect(counts).toHaveText(
    Object.values(lessons).flatMap(({ questions }) =>
      questions ? [`${String(questions.length)} of ${String(questions.length)} predicted right`] : [],
    ),
  );
});

test("what was answered is kept in this browser alone, and can be forgotten", async ({ page, site }) => {
  const address = addressOf({ lesson: "formula", step: "scores" });
  await open(page, site, address);
  const form = formOf(page, "formula.variance");
  await form.getByLabel(ui.yourAnswer.en).fill("64");
  await page.keyboard.press("Enter");
  await expect(form.getByRole("status")).toContainText("The core says: 64");
  expect(new URL(page.url()).search).toBe(address);
  await open(page, site, address);
  await expect(form.locator(".done")).toBeVisible();
  await page.locator("aside").getByRole("button", { name: ui.forgetProgress.en }).click();
  await expect(form.locator(".done")).toHaveCount(0);
  await open(page, site, address);
  await expect(form.locator(".done")).toHaveCount(0);
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
});

test("by keyboard: no answer, no number, a cell by arrow keys, the answer shown, asked again", async ({
  page,
  site,
}) => {
  await open(page, site, addressOf({ lesson: "formula", step: "scores" }));
  const number = formOf(page, "formula.variance");
  await button(number, ui.checkAnswer.en).press("Enter");
  await expect(number.getByRole("status")).toHaveText(ui.answerMissing.en);
  await number.getByLabel(ui.yourAnswer.en).fill("<b>");
  await page.keyboard.press("Enter");
  await expect(number.getByRole("status")).toHaveText(ui.answerNoNumber.en);

  await open(page, site, addressOf({ lesson: "formula", step: "inputs" }));
  const cell = formOf(page, "formula.which-score");
  await cell.getByRole("radio", { name: "q0 k0" }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await expect(cell.getByRole("radio", { name: "q0 k1" })).toBeChecked();
  await expect(page).toHaveURL(/step=inputs/);
  await button(cell, ui.checkAnswer.en).press("Enter");
  await button(cell, ui.showAnswer.en).press("Enter");
  await expect(cell.locator("[data-answer]")).toHaveText("row 2, column 1");
  await expect(page.locator("aside .answered")).toHaveCount(0);
  await button(cell, ui.askAgain.en).press("Enter");
  await expect(cell.getByRole("radio", { name: "q0 k1" })).not.toBeChecked();
});
