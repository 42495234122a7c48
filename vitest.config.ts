import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { relaxedSimd } from "wasm-feature-detect";
import { launchOptions } from "./scripts/chromium.mjs";

const dist = fileURLToPath(new URL("dist/", import.meta.url));

/** Node before 22 wants to be asked. */
const relaxed = (await relaxedSimd()) ? [] : ["--experimental-wasm-relaxed-simd"];

const include = ["tests/{js,regression}/**/*.test.ts"];
const forNode = "**/*.node.test.ts";

/** What runs in Node or in a browser, with one of the two binaries. */
function project(
  name: string,
  simd: "plain" | "relaxed",
  test: TestProjectInlineConfiguration["test"],
): TestProjectInlineConfiguration {
  const setupFiles = ["tests/js/simd.ts"];
  return {
    extends: true,
    optimizeDeps: { include: ["fast-check", "wasm-feature-detect"] }, // found later, they would reload the page
    test: { name, include, setupFiles, provide: { simd }, ...test },
  };
}

const browser = () => ({
  enabled: true,
  headless: true,
  screenshotFailures: false,
  provider: playwright({ launchOptions }),
  instances: [{ browser: "chromium" as const }],
});

// The same files run in Node and in a browser, and with both binaries. Those for Node alone, which start processes of
// their own, run once.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^softlookup$/, replacement: `${dist}index.js` },
      { find: /^softlookup\/([a-z]+)$/, replacement: `${dist}$1.js` },
    ],
  },
  test: {
    projects: [
      project("node", "plain", { environment: "node" }),
      project("node-relaxed", "relaxed", { environment: "node", execArgv: relaxed, exclude: [forNode] }),
      project("browser", "plain", { browser: browser(), exclude: [forNode] }),
      project("browser-relaxed", "relaxed", { browser: browser(), exclude: [forNode] }),
    ],
  },
});
