// Lighthouse's four scores of the served page, and what its first load weighs, gzipped as a server would.

import lighthouse from "lighthouse";
import puppeteer from "puppeteer-core";
import { buildPage } from "./build-page.mjs";
import { launchOptions } from "./chromium.mjs";
import { Failure, root, runAsScript } from "./run.mjs";
import { serve } from "./serve.mjs";

const aim = 95;

await runAsScript(import.meta.url, async () => {
  await buildPage();
  const server = await serve(`${root}site`, { gzip: true });
  const browser = await puppeteer.launch({ ...launchOptions, headless: true });
  try {
    const page = await browser.newPage();
    const { lhr } = await lighthouse(
      server.url,
      { onlyCategories: ["performance", "accessibility", "best-practices", "seo"] },
      undefined,
      page,
    );
    const scores = Object.values(lhr.categories).map(({ title, score }) => ({
      title,
      score: Math.round(score * 100),
    }));
    for (const { title, score } of scores) console.log(`${title.padEnd(16)} ${score}`);
    console.log(`layout shift     ${lhr.audits["cumulative-layout-shift"].displayValue}`);
    console.log(`transferred      ${lhr.audits["total-byte-weight"].displayValue}`);
    const low = scores.filter(({ score }) => score < aim);
    for (const { title } of low) {
      const refs = Object.values(lhr.categories).find((category) => category.title === title).auditRefs;
      for (const { id, weight } of refs) {
        const audit = lhr.audits[id];
        if (weight > 0 && audit.score !== null && audit.score < 0.9)
          console.log(`  ${title}: ${audit.title} ${audit.displayValue ?? ""}`);
      }
    }
    if (low.length > 0) throw new Failure(`below ${aim}: ${low.map(({ title }) => title).join(", ")}`);
  } finally {
    await browser.close();
    await server.close();
  }
});
