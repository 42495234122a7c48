// The static page, in site/, and the same in one file, dist/softlookup.html.

import { bin, run } from "./run.mjs";
import { filesUnder, whenChanged } from "./stamp.mjs";

/** Wants the package built. */
export async function buildPage() {
  const oneFile = "dist/softlookup.html";
  const own = filesUnder(["dist"]).filter((path) => path !== oneFile);
  const inputs = ["web", ...own, "bench/measured.json", "package.json", "package-lock.json"];
  await whenChanged("page", { inputs, outputs: ["site/index.html", oneFile] }, async () => {
    await run(bin("vite"), ["build", "--config", "web/vite.config.ts"]);
    await run(bin("vite"), ["build", "--config", "web/vite.config.ts", "--mode", "single"]);
  });
}
