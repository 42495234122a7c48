// The README's pictures, docs/page.png and docs/page.zh.png, taken from the built page.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { launchOptions } from "./chromium.mjs";
import { serve } from "./serve.mjs";

const folder = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const server = await serve(folder("site"));
const browser = await chromium.launch(launchOptions);
await mkdir(folder("docs"), { recursive: true });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1385 }, colorScheme: "light" });
  for (const [language, file] of [
    ["en", "docs/page.png"],
    ["zh", "docs/page.zh.png"],
  ]) {
    await page.goto(`${server.url}?lesson=formula&step=scores&lang=${language}`);
    await page.locator("[data-grid=scores] td[data-row='0'][data-col='1']").hover();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: folder(file), animations: "disabled" });
    console.log(file);
  }
} finally {
  await browser.close();
  await server.close();
}
