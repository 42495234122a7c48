import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds fault with, in the whole page or in what `within` selects, as readable lines. */
export async function violations(page: Page, within = "html"): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeSource);
  const results = await page.evaluate(
    (selector) =>
      (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run(selector, {
        resultTypes: ["violations"],
        preload: false, // of style sheets and media, for two rules about orientation locks and sound
      }),
    within,
  );
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
