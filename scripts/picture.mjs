// The README's pictures, docs/<name>.png and docs/<name>.zh.png, taken from the built page.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { launchOptions } from "./chromium.mjs";
import { serve } from "./serve.mjs";
import { settled } from "./settled.mjs";

const folder = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A step, and the cell of it that is pointed at. */
const pictures = {
  formula: { link: "lesson=formula&step=scores", cell: ["scores", 0, 1] },
  leak: { link: "lesson=leak&step=no-mask", cell: ["outputAfter", 1, 1] },
  minimind: { link: "lesson=minimind&step=repeat", cell: ["tiled", 1, 1] },
};

const server = await serve(folder("site"));
const browser = await chromium.launch(launchOptions);
await mkdir(folder("docs"), { recursive: true });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1560 }, colorScheme: "light" });
  for (const [name, { link, cell }] of Object.entries(pictures)) {
    for (const [language, suffix] of [
      ["en", ""],
      ["zh", ".zh"],
    ]) {
      await page.goto(`${server.url}?${link}&lang=${language}`);
      await settled(page);
      const [grid, row, col] = cell;
      await page.locator(`[data-grid=${grid}] td[data-row='${row}'][data-col='${col}']`).first().hover();
      await page.evaluate(() => document.fonts.ready);
      const file = `docs/${name}${suffix}.png`;
      await page.screenshot({ path: folder(file), animations: "disabled" });
      console.log(file);
    }
  }
} finally {
  await browser.close();
  await server.close();
}
