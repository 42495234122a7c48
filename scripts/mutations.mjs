// Breaks the core, one line at a time, and demands that the C++ tests notice each time.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import mutants from "./mutants.mjs";
import { execute, Failure, root, run, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";
import { filesUnder } from "./stamp.mjs";

const tree = `${root}build/mutants/tree`;
const build = `${root}build/mutants/build`;
const parts = ["CMakeLists.txt", "cmake", "src", "tests/cpp", "tests/golden"];
const tests = `${build}/softlookup_tests`;
const hanging = 120_000; // ms; the unbroken tests take seconds

/** Makes the tree equal to the repository; what is equal keeps its time, and with it its object. */
function copyTree() {
  const files = filesUnder(parts);
  for (const file of filesUnder(parts, tree)) if (!files.includes(file)) rmSync(join(tree, file));
  for (const file of files) {
    const [from, to] = [join(root, file), join(tree, file)];
    const content = readFileSync(from);
    if (existsSync(to) && readFileSync(to).equals(content)) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, content);
  }
}

const compile = () =>
  execute("cmake", ["--build", build, "-j", String(availableParallelism()), "--target", "softlookup_tests"], {
    capture: true,
  });

const runTests = () => execute(tests, ["--abort"], { capture: true, timeout: hanging });

/** How the tests took a mutant; only "noticed" is good. */
async function fate({ file, find, replace }) {
  const path = join(tree, file);
  const original = readFileSync(path, "utf8");
  const places = original.split(find).length - 1;
  if (places !== 1) return `found ${places} times`;
  try {
    writeFileSync(
      path,
      original.replace(find, () => replace),
    );
    if ((await compile()).code !== 0) return "does not compile";
    return (await runTests()).code === 0 ? "SURVIVED" : "noticed";
  } finally {
    writeFileSync(path, original);
  }
}

export async function mutations() {
  copyTree();
  // Compiling costs more than running does; neither warnings nor sanitizers are wanted.
  const settings = ["-DCMAKE_BUILD_TYPE=", "-DCMAKE_CXX_FLAGS=-O0", "-DSOFTLOOKUP_STRICT=OFF"];
  await run("cmake", ["-G", "Ninja", "-S", tree, "-B", build, ...settings], { capture: true });
  for (const [step, { code, output }] of [
    ["compile", await compile()],
    ["pass", await runTests()],
  ]) {
    if (code !== 0) throw new Failure(`the tests do not ${step} unbroken:\n${output}`);
  }

  const counts = { passed: 0, failed: 0 };
  // One file after the other: restoring a file costs a compilation as well.
  for (const mutant of mutants.toSorted((a, b) => a.file.localeCompare(b.file))) {
    const result = await fate(mutant);
    counts[result === "noticed" ? "passed" : "failed"] += 1;
    console.log(`${result.padEnd(16)}  ${mutant.file.padEnd(20)}  ${mutant.name}`);
  }
  return counts;
}

await runAsScript(import.meta.url, async () => {
  await setup("test");
  const { passed, failed } = await mutations();
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
