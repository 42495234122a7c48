// Tasks that hold the page up for longer than 50 ms of the processor's time, step by step, every setting at its
// largest: `npm run long-tasks`. By the processor's time, so that what else runs on the machine does not matter.

import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright";
import { buildPage } from "./build-page.mjs";
import { launchOptions } from "./chromium.mjs";
import { Failure, root, runAsScript } from "./run.mjs";
import { serve } from "./serve.mjs";
import { settled } from "./settled.mjs";

const most = 50;

/** The main thread's tasks, in order, in milliseconds of the processor's time, and the marks between them. */
async function timelineOf(file) {
  const { traceEvents } = JSON.parse(await readFile(file, "utf8"));
  const { pid, tid } = traceEvents.find(
    ({ cat, name }) => cat.includes("user_timing") && name.startsWith("at "),
  );
  const events = traceEvents.filter((event) => event.pid === pid && event.tid === tid);
  return events
    .filter(({ name, ph }) => name.startsWith("at ") || (ph === "X" && name.endsWith("RunTask")))
    .sort((one, other) => one.ts - other.ts)
    .map(({ name, tdur = 0 }) => ({
      mark: name.startsWith("at ") ? name.slice(3) : undefined,
      time: tdur / 1000,
    }));
}

/** In the page: every setting to its largest, one after the other, each with a mark. */
async function turnUp(place) {
  const pause = () => new Promise((done) => setTimeout(done, 60));
  performance.mark(`at ${place}`);
  for (const input of document.querySelectorAll(".controls input")) {
    performance.mark(`at ${place}, ${input.closest("label")?.textContent.trim()}`);
    input.value = input.max;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
    await pause();
  }
  performance.mark(`at ${place}, next`);
}

await runAsScript(import.meta.url, async () => {
  await buildPage();
  const server = await serve(`${root}site`);
  const browser = await chromium.launch(launchOptions);
  const trace = join(tmpdir(), `softlookup-trace-${process.pid}.json`);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${server.url}?lang=en`);
    await browser.startTracing(page, { path: trace, categories: ["toplevel", "blink.user_timing"] });
    for (;;) {
      await settled(page);
      const { searchParams } = new URL(page.url());
      await page.evaluate(turnUp, `${searchParams.get("lesson")} ${searchParams.get("step")}`);
      const next = page.locator("main .steps .primary");
      if (await next.isDisabled()) break;
      await next.click();
    }
    await browser.stopTracing();
    let place = "start";
    let found = 0;
    for (const { mark, time } of await timelineOf(trace)) {
      place = mark ?? place;
      if (time <= most) continue;
      console.log(`${time.toFixed(0).padStart(5)} ms  ${place}`);
      found += 1;
    }
    if (found > 0) throw new Failure(`${found} tasks longer than ${most} ms`);
  } finally {
    await browser.close();
    await server.close();
    await rm(trace, { force: true });
  }
});
