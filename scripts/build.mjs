// Builds the package and the page; `--package` the package alone.

import { buildPackage } from "./build-package.mjs";
import { buildPage } from "./build-page.mjs";
import { runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";

export async function buildAll() {
  await setup("build");
  await buildPackage();
  await buildPage();
}

await runAsScript(import.meta.url, async () => {
  if (!process.argv.includes("--package")) return buildAll();
  await setup("build");
  return buildPackage();
});
