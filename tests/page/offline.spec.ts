import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { serve } from "../../scripts/serve.mjs";
import { violations } from "./axe.ts";
import { addressOf, cell, expect, siteFolder, test } from "./fixtures.ts";

const oneFile = fileURLToPath(new URL("../../dist/softlookup.html", import.meta.url));

const verdicts = (page: Page) => page.locator("[data-candidate] [data-verdict]");

test("the page as one file runs from disk, whole: steps, edits, glossary, the leak check", async ({
  browser,
}) => {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(request.url());
  });
  const file = pathToFileURL(oneFile).href;
  const open = async (search: string) => {
    await page.goto(file + search);
    await expect(page.locator("#step")).toBeVisible();
  };

  await open(addressOf({ lesson: "formula", step: "scores" }));
  await cell(page, "q", 0, 0).locator("input").fill("3");
  await expect(cell(page, "scores", 0, 0)).toHaveAttribute("data-value", "4");
  await expect(page).toHaveURL(/q=3_1/);
  await page.locator("main .primary").click();
  await expect(page).toHaveURL(/step=scaled/);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  expect(await violations(page)).toEqual([]);

  await open(addressOf({ lesson: "leak", step: "check" }));
  await expect(verdicts(page)).toHaveCount(3);
  await expect(verdicts(page).first()).toHaveAttribute("data-verdict", "causal");
  const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
  expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:/);
  expect(problems).toEqual([]);
  await context.close();
});

test("the one file holds everything and names no host of its own", async () => {
  const html = await readFile(oneFile, "utf8");
  const markup = html.replace(/(<(script|style)[^>]*>).*?<\/\2>/gs, "$1");
  expect(markup.match(/<(script|link|img|iframe)\b[^>]*\s(src|href)=[^>]*>/g)).toBeNull();
  expect(markup.length).toBeLessThan(5000);
});

test.describe("served", () => {
  test.use({ serviceWorkers: "allow", strict: false });

  const installed = (page: Page) =>
    page.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready;
      return active?.state;
    });

  test("it works without a network after one visit, and changes to a new version as a whole", async ({
    browser,
  }) => {
    const folder = await mkdtemp(join(tmpdir(), "softlookup-"));
    await cp(siteFolder, folder, { recursive: true });
    const server = await serve(folder, { base: "/some/where/" });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(server.url);
      await page.mouse.move(3, 3); // somebody is there
      await expect.poll(() => installed(page)).toBe("activated");

      await context.setOffline(true);
      await page.goto(server.url + addressOf({ lesson: "leak", step: "check" }));
      await expect(verdicts(page)).toHaveCount(3);
      await page.keyboard.press("/");
      await expect(page.getByRole("searchbox")).toBeVisible();
      await context.setOffline(false);

      // A new version: other words, another worker.
      const change = async (name: string, from: string | RegExp, to: string) => {
        const path = join(folder, name);
        await writeFile(path, (await readFile(path, "utf8")).replace(from, to));
      };
      await change(
        "index.html",
        "<title>softlookup</title>",
        '<title>softlookup</title><meta name="version" content="2" />',
      );
      await change("sw.js", /"[0-9a-f]{16}"/, '"2"');
      await page.goto(server.url);
      await page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        await registration.update();
      });
      await expect
        .poll(() => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting?.state))
        .toBe("installed");
      await expect(page.locator("meta[name=version]")).toHaveCount(0);
      await page.close();

      const later = await context.newPage();
      await expect
        .poll(async () => {
          await later.goto(server.url);
          return later.locator("meta[name=version]").count();
        })
        .toBe(1);
      await expect(later.locator("#step")).toBeVisible();
      await expect
        .poll(() =>
          later.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith("softlookup"))),
        )
        .toEqual(["softlookup-2"]);
    } finally {
      await context.close();
      await server.close();
      await rm(folder, { recursive: true });
    }
  });

  test("it can be installed: a manifest with its icons", async ({ page, site }) => {
    await page.goto(site);
    const href = await page.locator("link[rel=manifest]").getAttribute("href");
    const manifest = (await (await page.request.get(new URL(href ?? "", site).href)).json()) as {
      start_url: string;
      icons: { src: string; sizes: string }[];
    };
    expect(manifest.start_url).toBe("./");
    expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(["any", "192x192", "512x512"]);
    for (const { src } of manifest.icons) expect((await page.request.get(site + src)).ok()).toBe(true);
  });
});
