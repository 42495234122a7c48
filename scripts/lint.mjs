// Formatters in their checking mode, linters and type checkers. Each is one check; all of them run.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { buildPackage } from "./build-package.mjs";
import { checks } from "./checks.mjs";
import { configure } from "./cmake.mjs";
import { cppFiles, formattedCpp } from "./cpp-files.mjs";
import { inParallel } from "./parallel.mjs";
import { bin, execute, Failure, root, run, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";
import { whenChanged } from "./stamp.mjs";

/** Sources one after another in one file, and the name of a line of it in terms of theirs. */
function together(files, path) {
  const lines = files.flatMap((file) =>
    readFileSync(`${root}${file}`, "utf8")
      .split("\n")
      .map((text, index) => ({ text, place: `${file}:${index + 1}` })),
  );
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map(({ text }) => text).join("\n"));
  return (output) =>
    output.replaceAll(RegExp(`${path}:(\\d+)`, "g"), (_, line) => lines[line - 1]?.place ?? path);
}

async function clangTidy() {
  await configure("native-debug"); // writes compile_commands.json
  const read = (path) => readFileSync(`${root}${path}`, "utf8");
  const compilations = JSON.parse(read("build/native-debug/compile_commands.json"));
  const files = cppFiles([".cpp"], "src");
  // A source for Highway includes itself by its name.
  const alone = files.filter((file) => read(file).includes("HWY_TARGET_INCLUDE"));
  const rest = files.filter((file) => !alone.includes(file));
  // Most of the work goes into xtensor's headers, so these are read as few times as there are cores.
  const cores = Math.min(availableParallelism(), rest.length);
  const folder = `${root}build/clang-tidy`;
  const joined = [...Array(cores).keys()].map((core) => {
    const group = rest.filter((_, index) => index % cores === core);
    const path = `${folder}/${core}.cpp`;
    return { path, compiledAs: group[0], named: together(group, path) };
  });
  const single = alone.map((file) => ({ path: root + file, compiledAs: file, named: (output) => output }));
  const jobs = [...joined, ...single];
  const commands = jobs.map(({ path, compiledAs }) => {
    const { directory, command } = compilations.find(({ file }) => file === root + compiledAs);
    return { directory, file: path, command: command.replaceAll(root + compiledAs, path) };
  });
  writeFileSync(`${folder}/compile_commands.json`, JSON.stringify(commands));
  const found = [];
  await inParallel(jobs, async ({ path, named }) => {
    const args = ["-p", folder, "--quiet", `--extra-arg=-I${root}src`, path];
    const { code, output } = await execute("clang-tidy", args, { capture: true });
    if (code !== 0) found.push(named(output));
  });
  if (found.length > 0) throw new Failure(found.join("\n"));
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
