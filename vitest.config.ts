import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { launchOptions } from "./scripts/chromium.mjs";

const dist = fileURLToPath(new URL("dist/", import.meta.url));

// The same files run in Node and in a browser, those for Node alone apart.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^softlookup$/, replacement: `${dist}index.js` },
      { find: /^softlookup\/([a-z]+)$/, replacement: `${dist}$1.js` },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "node", include: ["tests/{js,regression}/**/*.test.ts"], environment: "node" },
      },
      {
        extends: true,
        optimizeDeps: { include: ["fast-check"] }, // found later, it would reload the page during a test
        test: {
          name: "browser",
          include: ["tests/{js,regression}/**/*.test.ts"],
          exclude: ["**/*.node.test.ts"],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
