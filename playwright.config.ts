import { defineConfig, devices } from "@playwright/test";
import { launchOptions } from "./scripts/chromium.mjs";

// The tests serve site/ themselves.
export default defineConfig({
  testDir: "tests/page",
  tsconfig: "tests/page/tsconfig.run.json",
  outputDir: "test-results",
  reporter: "list",
  workers: 2,
  forbidOnly: true,
  // Where the page keeps itself for offline use is a test of its own.
  use: { ...devices["Desktop Chrome"], launchOptions, serviceWorkers: "block" },
});
