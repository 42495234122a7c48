// The built page in Firefox: it loads, steps, edits, and finds leaks.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";
import { findFirefox } from "../../scripts/firefox.mjs";
import { serve } from "../../scripts/serve.mjs";

const wait = { timeout: 60_000 };
const problems = [];
let server;
let browser;
let page;

before(async () => {
  server = await serve(fileURLToPath(new URL("../../site", import.meta.url)), { base: "/some/where/" });
  browser = await puppeteer.launch({ browser: "firefox", executablePath: findFirefox(), headless: true });
  page = await browser.newPage();
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
});

after(async () => {
  await browser?.close();
  await server?.close();
});

const open = async (lesson, step) => {
  await page.goto(`${server.url}?lesson=${lesson}&step=${step}&lang=en`);
  await page.waitForSelector("#step", wait);
};
const value = (grid, row, col) =>
  page.$eval(`[data-grid=${grid}] td[data-row='${row}'][data-col='${col}']`, (cell) => cell.dataset.value);

test("it loads and steps by arrow key", async () => {
  await open("formula", "inputs");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("[data-grid=scores]", wait);
  assert.match(page.url(), /step=scores/);
  assert.equal(await value("scores", 0, 0), "2");
});

test("an edit recomputes what comes after it", async () => {
  const input = await page.$("[data-grid=q] td[data-row='0'][data-col='0'] input");
  await input.click({ count: 3 });
  await page.keyboard.type("5");
  assert.equal(await value("scores", 0, 0), "6");
});

test("the leak check tells right from wrong", async () => {
  for (const [step, verdict] of [
    ["causal", "causal"],
    ["no-mask", "leak"],
  ]) {
    await open("leak", step);
    const found = await page.waitForSelector("[data-verdict]", wait);
    assert.equal(await found.evaluate((node) => node.dataset.verdict), verdict);
  }
  await open("leak", "check");
  for (const verdict of ["causal", "leak"]) await page.waitForSelector(`[data-verdict=${verdict}]`, wait);
});

test("and nothing was said in the console", () => {
  assert.deepEqual(problems, []);
});
