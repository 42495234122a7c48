import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../scripts/serve.mjs";
import { lessons } from "../../web/src/content/index.ts";
import { embedCode } from "../../web/src/export/embed.ts";
import { violations } from "./axe.ts";
import { addressOf, expect, open, test } from "./fixtures.ts";

const place = { lesson: "masks", step: "causal" } as const;

test("one lesson without the frame: it ends with its last step and leads to the whole page", async ({
  page,
  site,
}) => {
  const steps = lessons.masks.steps;
  await open(page, site, addressOf({ lesson: "masks", step: steps.at(-1)?.id ?? "" }, "zh", "&embed=lesson"));
  await expect(page.locator("header.bar, aside")).toHaveCount(0);
  await expect(page.locator("main .primary")).toBeDisabled();
  await expect(page).toHaveURL(/embed=lesson/);
  await expect(page.getByRole("link", { name: /softlookup/ })).toHaveAttribute("href", /^(?!.*embed)/);
  // The strip’s steps of another lesson open outside.
  await expect(page.locator(".strip a").first()).toHaveAttribute("target", "_blank");
  expect(await violations(page)).toEqual([]);
});

test("the snippet: a page of another origin shows the lesson as high as it is; nothing is stored", async ({
  browser,
  site,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "softlookup-"));
  const snippet = embedCode(site + addressOf(place, "en", "&embed=lesson"), "Masks");
  writeFileSync(join(folder, "index.html"), `<!doctype html><title>A lesson</title><h1>Mine</h1>${snippet}`);
  const host = await serve(folder);
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(host.url.replace("127.0.0.1", "localhost"));
    const frame = page.frameLocator("iframe");
    await expect(frame.locator("#step")).toBeVisible();
    const heights = async () => ({
      frame: (await page.locator("iframe").boundingBox())?.height,
      content: await frame.locator(".shell").evaluate((shell) => Math.ceil(shell.scrollHeight)),
    });
    await expect
      .poll(async () => Object.values(await heights()).every((height, _, all) => height === all[0]))
      .toBe(true);
    const before = await heights();
    await frame.locator("main .primary").click();
    await expect(frame.locator("#step")).toHaveText(/Triangular/);
    await expect.poll(async () => (await heights()).content).not.toBe(before.content);
    await expect.poll(async () => (await heights()).frame).toBe((await heights()).content);
    expect(await context.cookies()).toEqual([]);
    expect((await context.storageState()).origins).toEqual([]);
  } finally {
    await context.close();
    await host.close();
    rmSync(folder, { recursive: true });
  }
});

test("Embed copies the snippet of exactly this state", async ({ page, site, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, site, addressOf(place, "en", "&mask=1111111111111111"));
  await page.getByRole("button", { name: "Embed", exact: true }).click();
  await expect(page.getByText("Snippet copied")).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const link = `${site}?lesson=masks&step=causal&lang=en&embed=lesson&mask=1111111111111111`;
  expect(copied).toBe(embedCode(link, "Masks · softlookup"));
});
