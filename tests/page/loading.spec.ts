import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import type { Page, Route } from "@playwright/test";
import { lessons } from "../../web/src/content/index.ts";
import { languages } from "../../web/src/content/text.ts";
import { ui } from "../../web/src/content/ui.ts";
import { addressOf, cell, expect, open, siteFolder, test } from "./fixtures.ts";

const wasm = "**/*.wasm";
const scores = addressOf({ lesson: "formula", step: "scores" });

test("starts under a sub-path and a strict policy, without a word in the console", async ({ page, site }) => {
  await open(page, site);
  await expect(cell(page, "query", 0, 0)).toHaveAttribute("data-value", "0.9");
  const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).not.toContain("unsafe-inline");
  expect(policy).not.toContain("'unsafe-eval'");
});

for (const language of languages) {
  test(`the first lesson begins before the program, where it will stay (${language})`, async ({
    page,
    site,
  }) => {
    const begin: (() => void)[] = [];
    await page.route("**/page-*.js", async (route) => {
      await new Promise<void>((done) => begin.push(done));
      await route.continue();
    });
    await page.goto(`${site}?lang=${language}`, { waitUntil: "commit" });
    const [title, lede] = [page.locator("h1:visible"), page.locator(".lede:visible")];
    await expect(title).toHaveCount(1); // once there is a style sheet
    await expect(title).toHaveText(lessons.lookup.question[language]);
    await expect(lede).toHaveText(lessons.lookup.lede[language]);
    const before = [await title.boundingBox(), await lede.boundingBox()];
    for (const go of begin) go();
    await expect(page.locator("#step")).toBeVisible();
    expect([await title.boundingBox(), await lede.boundingBox()]).toEqual(before);
    await expect(page.locator("h1")).toHaveCount(1);
  });
}

test("another lesson does not begin with the first", async ({ page, site }) => {
  await page.route("**/page-*.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await page.goto(site + scores);
  await expect(page.locator("h1:visible")).toHaveCount(0);
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
  await open(page, site, scores);
  await expect(cell(page, "q", 0, 0)).toBeVisible();
});

test("asks once for one of the two binaries", async ({ page, site }) => {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(".wasm")) asked.push(request.url());
  });
  await open(page, site, scores);
  expect(asked).toEqual([expect.stringContaining("/softlookup.relaxed-")]);
});

test("computes without relaxed SIMD too", async ({ page, site }) => {
  await page.addInitScript(() => {
    const { validate } = WebAssembly;
    WebAssembly.validate = (bytes) => bytes.byteLength > 100 && validate(bytes);
  });
  const [request] = await Promise.all([page.waitForRequest(wasm), open(page, site, scores)]);
  expect(request.url()).toContain("/softlookup-");
  await expect(cell(page, "q", 0, 0)).toBeVisible();
});

test.describe("nothing is fetched before it is needed", () => {
  const budget = 100_000; // bytes, gzipped

  /** Every file that the page asks for from now on, as it lies on the server. */
  function requested(page: Page, site: string): () => Promise<Buffer[]> {
    const paths = new Set<string>();
    page.on("request", (request) =>
      paths.add(new URL(request.url()).pathname.slice(new URL(site).pathname.length)),
    );
    return async () => {
      await page.waitForLoadState("networkidle");
      return Promise.all([...paths].map((path) => readFile(`${siteFolder}/${path || "index.html"}`)));
    };
  }

  for (const language of languages) {
    test(`a first visit stays within its budget (${language})`, async ({ page, site }) => {
      const files = requested(page, site);
      await open(page, site, `?lang=${language}`);
      const bytes = (await files()).reduce((sum, file) => sum + gzipSync(file).length, 0);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes, "bytes of the first visit, gzipped").toBeLessThanOrEqual(budget);
    });
  }

  /** Everything that the step shows and says, cell by cell. */
  const allOf = (page: Page) =>
    page.locator(".experiment").evaluate(async (figure) => {
      const cells = [...figure.querySelectorAll("td")];
      const states: string[] = [];
      // Once around before, since an attribute that has been set stays, empty.
      for (const spot of [...cells, ...cells]) {
        spot.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
        await new Promise(requestAnimationFrame);
        states.push(figure.innerHTML);
      }
      return states.slice(cells.length);
    });

  for (const [name, isRight] of [
    ["finds what was recorded of the first step", true],
    ["would not find a number that was recorded wrongly", false],
  ] as const) {
    test(`the core comes for a reader, and ${name}`, async ({ page, site }) => {
      await page.route("**/opening-*.js", async (route) => {
        const text = await (await route.fetch()).text();
        await route.fulfill({
          contentType: "text/javascript",
          body: isRight ? text : text.replaceAll(".9", ".8"),
        });
      });
      await open(page, site);
      const recorded = await allOf(page);
      expect(new Set(recorded).size).toBeGreaterThan(20);
      const place = await page.locator(".experiment").boundingBox();
      const modules: string[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith(".js")) modules.push(request.url());
      });
      await Promise.all([page.waitForResponse(wasm), page.mouse.move(3, 3)]);
      // Until they have run, the core with them.
      await page.evaluate((urls) => Promise.all(urls.map((url) => import(url))), modules);
      expect(isDeepStrictEqual(await allOf(page), recorded)).toBe(isRight);
      expect(await page.locator(".experiment").boundingBox()).toEqual(place);
    });
  }

  /** Keeps the core away until the answer is called. */
  async function holdBinary(page: Page): Promise<() => void> {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await page.route(wasm, async (route) => {
      await held;
      await route.continue();
    });
    return () => {
      release();
    };
  }

  test("a link with other inputs shows no number that was recorded for the first ones", async ({
    page,
    site,
  }) => {
    const release = await holdBinary(page);
    const asked = page.waitForRequest(wasm);
    await page.goto(`${site}${addressOf({ lesson: "lookup", step: "hard" })}&query=3_1`);
    await asked;
    await expect(page.locator("#step")).toBeVisible();
    await expect(page.locator("[data-grid]")).toHaveCount(0);
    release();
    await expect(cell(page, "scores", 0, 0)).toHaveAttribute("data-value", "3");
  });

  test("what is typed before the core has come is kept, and answered when it comes", async ({
    page,
    site,
  }) => {
    const release = await holdBinary(page);
    await open(page, site);
    const [q0, score] = [cell(page, "query", 0, 0), cell(page, "scores", 0, 0)];
    await q0.locator("input").fill("3");
    await expect(page.locator(".experiment")).toHaveAttribute("aria-busy", "true");
    await expect(score).toHaveCSS("opacity", "0.3");
    await expect(page).toHaveURL(/query=3_/);
    release();
    await expect(score).toHaveAttribute("data-value", "3");
    await expect(q0.locator("input")).toBeFocused();
    await expect(q0.locator("input")).toHaveValue("3");
    await page.keyboard.press("Control+z");
    await expect(q0).toHaveAttribute("data-value", "0.9");
  });

  test("a lesson comes when it is reached, and is asked for once", async ({ page, site }) => {
    const files = requested(page, site);
    const arrived = async () => {
      // The page itself holds the beginning of the first.
      const all = (await files()).map((file) => file.toString()).filter((file) => !/^<!doctype/.test(file));
      return Object.values(lessons)
        .filter(({ lede }) => all.some((file) => file.includes(JSON.stringify(lede.en).slice(1, -1))))
        .map(({ id }) => id);
    };
    await open(page, site, addressOf({ lesson: "masks", step: "wrong-rows" }));
    expect(await arrived()).toEqual(["masks"]);
    await page.keyboard.press("ArrowRight");
    await expect(page.locator(".lede")).toBeVisible();
    expect(await arrived()).toEqual(["masks", "cache"]);
    const count = (await files()).length;
    await page.keyboard.press("ArrowLeft");
    await expect(page.locator("#step")).toHaveText(lessons.masks.steps.at(-1)?.title.en ?? "");
    expect((await files()).length).toBe(count);
  });
});

test.describe("what takes long is computed in a worker", () => {
  for (const [lesson, step, button] of [
    ["scale", "variance", undefined],
    ["scale", "entropy", undefined],
    ["cache", "time", ui.measure.en],
    ["heads", "shapes", undefined],
    ["minimind", "labs", undefined],
    ["cost", "measure", ui.measure.en],
    ["cost", "peak", ui.measure.en],
    ["leak", "check", undefined],
    ["leak", "others", undefined],
    ["leak", "gallery", undefined],
  ] as const) {
    test(`${lesson}: ${step}`, async ({ page, site }) => {
      const worker = page.waitForEvent("worker");
      await open(page, site, addressOf({ lesson, step }));
      if (button) await page.getByRole("button", { name: button }).click();
      expect((await worker).url()).toContain("worker");
      await expect(page.locator("[data-run]").first()).toBeVisible();
    });
  }
});

test.describe("when a lesson does not arrive", () => {
  test.use({ strict: false }); // the browser reports the failed request

  test("it says so in place of the lesson, the others stay, and trying again brings it", async ({
    page,
    site,
  }) => {
    const uncaught: string[] = [];
    page.on("pageerror", (error) => uncaught.push(error.message));
    await open(page, site, addressOf({ lesson: "masks", step: "wrong-rows" }));
    await page.route("**/*.js", (route) => route.abort());
    await page.locator("main .primary").click();
    await expect(page.getByRole("alert")).toContainText(ui.loadFailed.en);
    await expect(page.locator("h1")).toHaveText(lessons.cache.question.en);
    await expect(page).toHaveURL(/lesson=cache&step=row/);

    await page.keyboard.press("ArrowLeft");
    await expect(page.locator("#step")).toHaveText(lessons.masks.steps.at(-1)?.title.en ?? "");
    await expect(page.getByRole("alert")).toHaveCount(0);

    await page.keyboard.press("ArrowRight");
    await expect(page.getByRole("alert")).toBeVisible();
    await page.unroute("**/*.js");
    await page.getByRole("button", { name: ui.retry.en }).click();
    await expect(page.locator("#step")).toHaveText(lessons.cache.steps[0]?.title.en ?? "");
    expect(uncaught).toEqual([]);
  });
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
        await page.goto(site + addressOf({ lesson: "formula", step: "scores" }, language));
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
    await page.mouse.move(3, 3);
    await expect(page.getByRole("alert")).toBeVisible();
    await page.unroute(wasm);
    await page.getByRole("button", { name: ui.retry.en }).click();
    await expect(cell(page, "query", 0, 0)).toBeVisible();
  });
});

test("the built page names no host of its own", async () => {
  const html = await readFile(`${siteFolder}/index.html`, "utf8");
  expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(html).not.toMatch(/(src|href)="\//);
});
