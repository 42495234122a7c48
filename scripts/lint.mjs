// Formatters in their checking mode, linters and type checkers. Each is one check; all of them run.

import { buildPackage } from "./build-package.mjs";
import { checks } from "./checks.mjs";
import { configure } from "./cmake.mjs";
import { cppFiles, formattedCpp } from "./cpp-files.mjs";
import { inParallel } from "./parallel.mjs";
import { bin, execute, Failure, run, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";
import { whenChanged } from "./stamp.mjs";

async function clangTidy() {
  await configure("native-debug"); // writes compile_commands.json
  const files = cppFiles([".cpp"], "src");
  const failed = [];
  await inParallel(files, async (file) => {
    const args = ["-p", "build/native-debug", "--quiet", file];
    const { code, output } = await execute("clang-tidy", args, { capture: true });
    if (code === 0) return;
    console.log(output);
    failed.push(file);
  });
  if (failed.length > 0) throw new Failure(`clang-tidy found something in ${failed.join(", ")}`);
}

/** Wants the package built: tests and page are checked against its types. */
export function lint() {
  const all = {
    "clang-format": () => run("clang-format", ["--dry-run", "--Werror", ...formattedCpp()]),
    "clang-tidy": () =>
      whenChanged(
        "clang-tidy",
        { inputs: [".clang-tidy", "CMakeLists.txt", "cmake", "src"], outputs: [] },
        clangTidy,
      ),
    prettier: () => run(bin("prettier"), ["--check", "--log-level", "warn", "."]),
    eslint: () => run(bin("eslint"), ["--max-warnings", "0", "."]),
    tsc: () => run(bin("tsc"), ["--project", "."]),
    "svelte-check": () =>
      run(bin("svelte-check"), ["--workspace", "web", "--tsconfig", "./tsconfig.json", "--fail-on-warnings"]),
  };
  return checks(all, inParallel);
}

await runAsScript(import.meta.url, async () => {
  await setup("test");
  await buildPackage();
  const { failed } = await lint();
  if (failed > 0) throw new Failure(`${failed} of the checks failed`);
});
