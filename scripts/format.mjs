import { formattedCpp } from "./cpp-files.mjs";
import { bin, run, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";

await runAsScript(import.meta.url, async () => {
  await setup("test");
  await run("clang-format", ["-i", ...formattedCpp()]);
  await run(bin("prettier"), ["--write", "--log-level", "warn", "."]);
});
