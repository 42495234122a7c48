import { fileURLToPath } from "node:url";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { serve } from "../../scripts/serve.mjs";
import { lessons } from "../../web/src/content/index.ts";
import type { Place } from "../../web/src/content/lesson.ts";
import type { Language } from "../../web/src/content/text.ts";

export const siteFolder = fileURLToPath(new URL("../../site", import.meta.url));

interface Options {
  /** Does the page have to keep its console empty and its requests at home? */
  strict: boolean;
}

/** The built page, served under a sub-path; every test ends with an empty console and no foreign request. */
export const test = base.extend<Options, { site: string }>({
  strict: [true, { option: true }],
  site: [
    async ({}, use) => {
      const server = await serve(siteFolder, { port: 0, base: "/some/where/" });
      await use(server.url);
      await server.close();
    },
    { scope: "worker" },
  ],
  page: async ({ page, site, strict }, use) => {
    const problems: string[] = [];
    page.on("console", (message) => {
      // Playwright's own word, where it keeps service workers away.
      if (!message.text().startsWith("Service Worker registration blocked")) {
        problems.push(`${message.type()}: ${message.text()}`);
      }
    });
    page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
    page.on("request", (request) => {
      if (!request.url().startsWith(site)) problems.push(`request: ${request.url()}`);
    });
    await use(page);
    if (strict) expect(problems).toEqual([]);
  },
});

export { expect };

/** Every step of every lesson, in order. */
export const places: readonly Place[] = Object.values(lessons).flatMap(({ id, steps }) =>
  steps.map((step) => ({ lesson: id, step: step.id })),
);

export const addressOf = ({ lesson, step }: Place, language: Language = "en", more = "") =>
  `?lesson=${lesson}&step=${step}&lang=${language}${more}`;

/** Waits for everything that the step is made of. */
export const loaded = (page: Page) => expect(page.locator("[aria-busy=true]")).toHaveCount(0);

/** Opens a step and waits until it stands. */
export async function open(page: Page, site: string, search = ""): Promise<void> {
  await page.goto(site + search);
  await expect(page.locator("#step")).toBeVisible();
  await loaded(page);
}

/** Turns an open page to another step, as its Back button would: quicker than loading it anew. */
export async function turnTo(page: Page, place: Place, language: Language = "en", more = ""): Promise<void> {
  await page.evaluate(
    (address) => {
      history.pushState(null, "", address);
      dispatchEvent(new PopStateEvent("popstate"));
    },
    addressOf(place, language, more),
  );
  const step = lessons[place.lesson].steps.find(({ id }) => id === place.step);
  await expect(page.locator("#step")).toHaveText(step?.title[language] ?? "");
  await loaded(page);
}

/** Waits until nothing is being computed any more. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator("[data-run=running]")).toHaveCount(0, { timeout: 30_000 });
}

export const cell = (page: Page | Locator, grid: string, row: number, col: number): Locator =>
  page.locator(`[data-grid="${grid}"] td[data-row="${String(row)}"][data-col="${String(col)}"]`);

const toNumber = (text: string | null) =>
  Number((text ?? "NaN").replaceAll("−", "-").replace("∞", "Infinity"));

/** The exact numbers of a matrix on the page, row by row. */
export async function numbersOf(page: Page | Locator, grid: string): Promise<number[]> {
  const texts = await page
    .locator(`[data-grid="${grid}"] td[data-value]`)
    .evaluateAll((cells) => cells.map((one) => one.getAttribute("data-value")));
  return texts.map(toNumber);
}

/** Numbers that agree to within a tolerance, infinities exactly. */
export function expectClose(actual: readonly number[], expected: readonly number[], tolerance = 2e-6): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, index) => {
    const wanted = expected[index] ?? NaN;
    if (Number.isFinite(wanted)) expect(Math.abs(value - wanted)).toBeLessThanOrEqual(tolerance);
    else expect(value).toBe(wanted);
  });
}
