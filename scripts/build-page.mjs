// The static page, in site/, and the same in one file, site/softlookup.html.

import { bin, run } from "./run.mjs";
import { whenChanged } from "./stamp.mjs";

/** Wants the package built. */
export async function buildPage() {
  const inputs = ["web", "dist", "bench/measured.json", "package.json", "package-lock.json"];
  await whenChanged("page", { inputs, outputs: ["site/index.html", "site/softlookup.html"] }, async () => {
    await run(bin("vite"), ["build", "--config", "web/vite.config.ts"]);
    await run(bin("vite"), ["build", "--config", "web/vite.config.ts", "--mode", "single"]);
  });
}
