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
  use: { ...devices["Desktop Chrome"], launchOptions },
});
