import { setFlagsFromString } from "node:v8";
import { defineConfig, devices } from "@playwright/test";
import { relaxedSimd } from "wasm-feature-detect";
import { launchOptions } from "./scripts/chromium.mjs";

// Chromium's page runs on relaxed SIMD; so must the package here, which the tests compare it with to the bit. Node before
// 22 wants to be asked.
if (!(await relaxedSimd())) setFlagsFromString("--experimental-wasm-relaxed-simd");

// The tests serve site/ themselves.
export default defineConfig({
  testDir: "tests/page",
  tsconfig: "tests/page/tsconfig.run.json",
  outputDir: "test-results",
  reporter: "list",
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // Where the page keeps itself for offline use is a test of its own.
  use: { ...devices["Desktop Chrome"], launchOptions, serviceWorkers: "block" },
});
