// The browser of the tests: the system's, never one that a test tool downloads.

import { which } from "./which.mjs";

export function findChromium() {
  return process.env.SOFTLOOKUP_CHROMIUM ?? which("chromium", "chromium-browser", "google-chrome");
}

/** Playwright's launch options. */
export const launchOptions = {
  executablePath: findChromium() ?? "chromium",
  args: [
    "--no-sandbox", // Chromium's own does not work for root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};
