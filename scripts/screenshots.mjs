// Every lesson in both languages, light and dark, on a phone and on a wide screen, into screenshots/.
// `npm run screenshots -- scale masks` takes these lessons alone.

import { mkdir } from "node:fs/promises";
import { chromium } from "playwright";
import { buildPage } from "./build-page.mjs";
import { launchOptions } from "./chromium.mjs";
import { root } from "./run.mjs";
import { serve } from "./serve.mjs";
import { settled } from "./settled.mjs";

await buildPage();
const wanted = process.argv.slice(2);
const server = await serve(`${root}site`);
const browser = await chromium.launch(launchOptions);
await mkdir(`${root}screenshots`, { recursive: true });
try {
  for (const width of [360, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      for (const language of ["zh", "en"]) {
        await page.goto(`${server.url}?lang=${language}`);
        await settled(page);
        // All steps, by the page's own button: a lesson is done where the address names the next.
        for (;;) {
          const { searchParams } = new URL(page.url());
          const [lesson, step] = [searchParams.get("lesson"), searchParams.get("step")];
          if (wanted.length === 0 || wanted.includes(lesson)) {
            await settled(page);
            await page.evaluate(() => document.fonts.ready);
            const path = `screenshots/${lesson}-${step}-${language}-${colorScheme}-${width}.png`;
            await page.screenshot({ path: `${root}${path}`, fullPage: true, animations: "disabled" });
            console.log(path);
          }
          const next = page.locator("main .steps .primary");
          if (await next.isDisabled()) break;
          await next.click();
        }
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
  await server.close();
}
