import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Route } from "@playwright/test";
import { ui } from "../../web/src/content/ui.ts";
import { cell, expect, open, siteFolder, test } from "./fixtures.ts";

const wasm = "**/*.wasm";

test("starts under a sub-path and a strict policy, without a word in the console", async ({ page, site }) => {
  await open(page, site);
  await expect(cell(page, "query", 0, 0)).toHaveAttribute("data-value", "0.9");
  const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).not.toContain("unsafe-inline");
  expect(policy).not.toContain("'unsafe-eval'");
});

test("refuses inline script and foreign hosts by that policy", async ({ browser, site }) => {
  // A page of its own: this one is meant to complain.
  const page = await browser.newPage();
  await open(page, site);
  const refused = await page.evaluate(async () => {
    const violations: string[] = [];
    const both = new Promise<void>((done) => {
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
        violations.push(effectiveDirective);
        if (violations.length === 2) done();
      });
    });
    const script = document.createElement("script");
    script.textContent = "document.title = 'inline script ran'";
    document.head.append(script);
    const answer = await fetch("https://example.invalid/").catch(() => undefined);
    await both;
    return { violations, answered: answer !== undefined };
  });
  expect(refused).toEqual({ violations: ["script-src-elem", "connect-src"], answered: false });
  await expect(page).not.toHaveTitle("inline script ran");
  await page.close();
});

test("needs no cross-origin isolation", async ({ page, site }) => {
  await open(page, site);
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
});

test("loads the binary whatever its MIME type", async ({ page, site }) => {
  await page.route(wasm, async (route: Route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { "content-type": "application/octet-stream" } });
  });
  await open(page, site);
  await expect(cell(page, "query", 0, 0)).toBeVisible();
});

test("asks once for one of the two binaries", async ({ page, site }) => {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(".wasm")) asked.push(request.url());
  });
  await open(page, site);
  expect(asked).toEqual([expect.stringContaining("/softlookup.relaxed-")]);
});

test("computes without relaxed SIMD too", async ({ page, site }) => {
  await page.addInitScript(() => {
    const { validate } = WebAssembly;
    WebAssembly.validate = (bytes) => bytes.byteLength > 100 && validate(bytes);
  });
  const [request] = await Promise.all([page.waitForRequest(wasm), open(page, site)]);
  expect(request.url()).toContain("/softlookup-");
  await expect(cell(page, "query", 0, 0)).toBeVisible();
});

test("ships every formula font that it uses", async ({ page, site }) => {
  await open(page, site, "?lesson=formula&step=weights");
  const missing = await page.evaluate(async () => {
    await document.fonts.ready;
    const shipped = new Set([...document.fonts].map(({ family }) => family.replaceAll('"', "")));
    const used = [...document.querySelectorAll(".katex-html *")].map((node) =>
      (getComputedStyle(node).fontFamily.split(",")[0] ?? "").replaceAll('"', ""),
    );
    return [...new Set(used)].filter((family) => family.startsWith("KaTeX") && !shipped.has(family));
  });
  expect(missing).toEqual([]);
});

test("says what to do when it is opened from disk", async ({ browser }) => {
  const page = await browser.newPage();
  await page.goto(`${pathToFileURL(siteFolder).href}/index.html`);
  await expect(page.getByText("file://").first()).toBeVisible();
  await expect(page.locator("#step")).toHaveCount(0);
  await page.close();
});

test("says so when JavaScript is off", async ({ browser, site }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(site);
  await expect(page.locator("noscript p[lang=en]")).toBeVisible();
  await expect(page.locator("noscript p[lang=zh]")).toBeVisible();
  await context.close();
});

test.describe("when the core does not arrive", () => {
  // The browser itself reports a failed request; what the page does is checked below.
  test.use({ strict: false });

  const faults: Readonly<Record<string, (route: Route) => Promise<void>>> = {
    missing: (route) => route.fulfill({ status: 404, body: "" }),
    "cut short": async (route) => {
      const whole = await (await route.fetch()).body();
      await route.fulfill({ body: whole.subarray(0, 1000), contentType: "application/wasm" });
    },
    "an HTML page": (route) =>
      route.fulfill({ body: "<!doctype html><p>Not here</p>", contentType: "text/html" }),
    "not reachable": (route) => route.abort(),
  };

  for (const [name, fault] of Object.entries(faults)) {
    for (const language of ["zh", "en"] as const) {
      test(`${name}: one clear message (${language})`, async ({ page, site }) => {
        const uncaught: string[] = [];
        page.on("pageerror", (error) => uncaught.push(error.message));
        await page.route(wasm, fault);
        await page.goto(`${site}?lang=${language}`);
        const alert = page.getByRole("alert");
        await expect(alert).toContainText(ui.loadFailed[language]);
        await expect(alert).toContainText("softlookup.relaxed.wasm");
        await expect(page.locator("html")).toHaveAttribute("lang", language === "zh" ? "zh-Hans" : "en");
        expect(uncaught).toEqual([]);
      });
    }
  }

  test("and then does: trying again starts the page", async ({ page, site }) => {
    await page.route(wasm, (route) => route.abort());
    await page.goto(`${site}?lang=en`);
    await expect(page.getByRole("alert")).toBeVisible();
    await page.unroute(wasm);
    await page.getByRole("button", { name: ui.retry.en }).click();
    await expect(page.locator("#step")).toBeVisible();
  });
});

test("the built page names no host of its own", async () => {
  const html = await readFile(`${siteFolder}/index.html`, "utf8");
  expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(html).not.toMatch(/(src|href)="\//);
});
