// Runs all the tests and counts them. `--only lint,cpp` picks parts by the beginning of their names.

import { stripVTControlCharacters } from "node:util";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { buildPackage } from "./build-package.mjs";
import { buildPage } from "./build-page.mjs";
import { checks } from "./checks.mjs";
import { build, configure } from "./cmake.mjs";
import { lint } from "./lint.mjs";
import { mutations } from "./mutations.mjs";
import { bin, execute, Failure, root, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";
import { printSize } from "./size.mjs";

const report = (name) => `${root}build/reports/${name}`;
const readReport = (name) => JSON.parse(readFileSync(report(name), "utf8"));

/** A runner that fails without a failed test (it crashed, say) counts as one failure. */
const withExitCode = (code, { passed, failed, skipped }) => ({
  passed,
  failed: code === 0 ? failed : Math.max(failed, 1),
  skipped,
});

async function catch2(preset) {
  await configure(preset);
  await build(preset, "softlookup_tests");
  const { code, output } = await execute("ctest", ["--preset", preset, "--verbose"], { capture: "tee" });
  const plain = stripVTControlCharacters(output); // under Emscripten, Catch2 colours what no terminal reads
  const count = (pattern) => Number(pattern.exec(plain)?.[1] ?? 0);
  const all = count(/All tests passed \(\d+ assertions? in (\d+) test cases?\)/);
  const passed = all || count(/test cases:.*?(\d+) passed/);
  return withExitCode(code, { passed, failed: count(/test cases:.*?(\d+) failed/), skipped: 0 });
}

async function vitest(project) {
  const name = `vitest-${project}.json`;
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report(name)}`];
  const { code } = await execute(bin("vitest"), ["run", "--project", project, ...reporters]);
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = readReport(name);
  const skipped = numPendingTests + numTodoTests;
  return withExitCode(code, { passed: numPassedTests, failed: numFailedTests, skipped });
}

async function playwright() {
  const env = { PLAYWRIGHT_JSON_OUTPUT_FILE: report("playwright.json") };
  const { code } = await execute(bin("playwright"), ["test", "--reporter=list,json"], { env });
  const { expected, unexpected, flaky, skipped } = readReport("playwright.json").stats;
  return withExitCode(code, { passed: expected, failed: unexpected + flaky, skipped });
}

async function nodeTest(name, folder, pattern) {
  const files = readdirSync(`${root}${folder}`).filter((file) => pattern.test(file));
  if (files.length === 0) throw new Failure(`${folder} has no tests`);
  const reporters = ["spec", "stdout", "tap", report(name)].map((value, i) =>
    i % 2 === 0 ? `--test-reporter=${value}` : `--test-reporter-destination=${value}`,
  );
  const paths = files.map((file) => `${folder}/${file}`);
  const { code } = await execute(process.execPath, ["--test", ...reporters, ...paths]);
  const tap = readFileSync(report(name), "utf8");
  const count = (word) => Number(RegExp(`^# ${word} (\\d+)$`, "m").exec(tap)?.[1] ?? 0);
  return withExitCode(code, {
    passed: count("pass"),
    failed: count("fail") + count("cancelled"),
    skipped: count("skipped") + count("todo"),
  });
}

// In this order: what is quick to fail or wanted by others comes first.
const parts = {
  build: () => checks({ package: buildPackage, page: buildPage }),
  setup: () => nodeTest("setup.tap", "scripts", /\.test\.mjs$/),
  bench: () => nodeTest("bench.tap", "bench", /\.test\.mjs$/),
  lint,
  "cpp-native-debug": () => catch2("native-debug"),
  "cpp-native-release": () => catch2("native-release"),
  "cpp-wasm-release": () => catch2("wasm-release"),
  "js-node": () => vitest("node"),
  "js-node-relaxed": () => vitest("node-relaxed"),
  "js-chromium": () => vitest("browser"),
  "js-chromium-relaxed": () => vitest("browser-relaxed"),
  page: playwright,
  firefox: () => nodeTest("firefox.tap", "tests/firefox", /\.test\.mjs$/),
  package: () => nodeTest("package.tap", "tests/package", /\.test\.mjs$/),
  mutations,
  size: () =>
    checks({
      "size budget": () => {
        if (!printSize()) throw new Failure("over");
      },
    }),
};

async function runPart(name, part) {
  console.log(`\n━━ ${name}`);
  const start = performance.now();
  let counts;
  try {
    counts = { skipped: 0, ...(await part()) };
  } catch (error) {
    console.log(error instanceof Failure ? error.message : error);
    counts = { passed: 0, failed: 1, skipped: 0 };
  }
  if (counts.passed + counts.failed === 0) {
    console.log("no test ran");
    counts.failed = 1;
  }
  return { name, ...counts, seconds: (performance.now() - start) / 1000 };
}

function selected() {
  const index = process.argv.indexOf("--only");
  if (index < 0) return Object.keys(parts);
  const wanted = process.argv[index + 1]?.split(",") ?? [];
  const names = Object.keys(parts).filter((name) => wanted.some((beginning) => name.startsWith(beginning)));
  if (names.length === 0) throw new Failure(`--only wants some of ${Object.keys(parts).join(", ")}`);
  return names;
}

function summarize(results) {
  console.log("\n━━ summary");
  for (const { name, passed, failed, skipped, seconds } of results) {
    const notes = [failed > 0 && `${failed} FAILED`, skipped > 0 && `${skipped} skipped`]
      .filter(Boolean)
      .join(", ");
    console.log(
      `${name.padEnd(20)}${String(passed).padStart(6)} passed${`${seconds.toFixed(0)} s`.padStart(8)}   ${notes}`.trimEnd(),
    );
  }
  const left = Object.keys(parts).filter((name) => !results.some((result) => result.name === name));
  if (left.length > 0) console.log(`partial: left out ${left.join(", ")}`);
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
  return sum("failed");
}

await runAsScript(import.meta.url, async () => {
  const names = selected();
  await setup("test");
  rmSync(report(""), { recursive: true, force: true });
  mkdirSync(report(""), { recursive: true });
  const results = [];
  for (const name of names) results.push(await runPart(name, parts[name]));
  if (summarize(results) > 0) process.exitCode = 1;
});
