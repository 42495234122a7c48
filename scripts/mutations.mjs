// Breaks the core, one line at a time, and demands that the C++ tests notice each time.
//
// The tests as native-release built them are linked with the broken file in front of the core's library, so
// that a mutant costs one compilation, and several are tried at once.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { build, configure } from "./cmake.mjs";
import mutants from "./mutants.mjs";
import { inParallel } from "./parallel.mjs";
import { execute, Failure, root, run, runAsScript } from "./run.mjs";
import { setup } from "./setup.mjs";
import { which } from "./which.mjs";

const preset = "native-release";
const buildFolder = `${root}build/${preset}`;
const hanging = 120_000; // ms; the unbroken tests take seconds

const shell = (command, options) => execute("sh", ["-c", command], { capture: true, ...options });

/** How native-release compiled the files of a folder. */
function compilations(folder) {
  const all = JSON.parse(readFileSync(`${buildFolder}/compile_commands.json`, "utf8"));
  return all
    .filter(({ file }) => file.startsWith(`${root}${folder}/`))
    .map(({ file, command }) => ({
      file: file.replace(root, ""),
      command,
      object: /-o (\S+\.o)/.exec(command)[1],
    }));
}

/** The objects that a source or header goes into, from what the compiler told Ninja. */
async function dependents(file) {
  const output = await run("ninja", ["-C", buildFolder, "-t", "deps"], { capture: true });
  return output
    .split("\n\n")
    .filter((entry) => entry.split("\n").some((line) => line.endsWith(`/${file}`)))
    .map((entry) => entry.split(":")[0]);
}

/** What the core is linked with beside itself. */
function highwayLibrary() {
  const cache = readFileSync(`${buildFolder}/CMakeCache.txt`, "utf8");
  return /^SOFTLOOKUP_HWY_LIBRARY:\w+=(.+)$/m.exec(cache)[1];
}

const mutated = (command) => `${command} -O0 -w`;

/** xtensor, which takes most of a compilation, parsed once for all mutants. */
async function precompiledHeaders() {
  const header = `${root}build/mutants/xtensor.hpp`;
  mkdirSync(dirname(header), { recursive: true });
  writeFileSync(header, "#include <xtensor/xarray.hpp>\n#include <xtensor/xtensor.hpp>\n");
  const { file, command, object } = compilations("src")[0];
  const compile = command
    .replace(`${root}${file}`, `-x c++-header ${header}`)
    .replace(object, `${header}.gch`);
  await run("sh", ["-c", `cd ${buildFolder} && ${mutated(compile)}`], { capture: true });
  return header;
}

/**
 * The tests one part after the other: most mutants are noticed by the file's own tests, so that only the others' need run
 * the rest, and what takes long comes last.
 */
function partsFor(file) {
  const own = `${basename(file, extname(file))}_test`;
  const has = existsSync(`${root}tests/cpp/${own}.cpp`);
  return [...(has ? [`[#${own}]`] : []), "~[slow]", "[slow]"];
}

/** Runs a part of the tests; `flags` are Catch2's. */
const runPart = (tests, part, flags = []) =>
  execute(tests, ["--filenames-as-tags", part, ...flags], { capture: true, timeout: hanging });

/** How the tests took a mutant; only "noticed" is good. */
async function fate({ file, find, replace }, folder, header) {
  const original = readFileSync(`${root}${file}`, "utf8");
  const places = original.split(find).length - 1;
  if (places !== 1) return `found ${places} times`;
  cpSync(`${root}src`, `${folder}/src`, { recursive: true });
  writeFileSync(
    `${folder}/${file}`,
    original.replace(find, () => replace),
  );

  const broken = await dependents(file);
  const objects = [];
  for (const { command, object } of compilations("src").filter(({ object }) => broken.includes(object))) {
    objects.push(`${folder}/${objects.length}.o`);
    const compile = command.replaceAll(`${root}src`, `${folder}/src`).replace(object, objects.at(-1));
    if ((await shell(`${mutated(compile)} -include ${header}`)).code !== 0) return "does not compile";
  }

  const tests = [...compilations("tests/cpp"), ...compilations("tests/regression")];
  const [compiler] = tests[0].command.split(" ");
  objects.push(
    ...tests.map(({ object }) => `${buildFolder}/${object}`),
    `${buildFolder}/libsoftlookup_core.a`,
  );
  const linker = which("ld.gold") ? ["-fuse-ld=gold"] : []; // in half the time
  await run(compiler, [...linker, ...objects, highwayLibrary(), "-o", `${folder}/tests`], { capture: true });
  for (const part of partsFor(file)) {
    const { code } = await runPart(`${folder}/tests`, part, ["--abort"]);
    if (code !== 0) return "noticed";
  }
  return "SURVIVED";
}

export async function mutations() {
  await configure(preset);
  await build(preset, "softlookup_tests");
  await inParallel(new Set(mutants.flatMap(({ file }) => partsFor(file))), async (part) => {
    const { code, output } = await runPart(`${buildFolder}/softlookup_tests`, part);
    if (code !== 0) throw new Failure(`the tests do not pass unbroken:\n${output}`);
  });

  const header = await precompiledHeaders();
  const counts = { passed: 0, failed: 0 };
  await inParallel([...mutants.entries()], async ([index, mutant]) => {
    const folder = `${root}build/mutants/${index}`;
    const result = await fate(mutant, folder, header);
    rmSync(folder, { recursive: true, force: true });
    counts[result === "noticed" ? "passed" : "failed"] += 1;
    console.log(`${result.padEnd(16)}  ${mutant.file.padEnd(24)}  ${mutant.name}`);
  });
  return counts;
}

await runAsScript(import.meta.url, async () => {
  await setup("test");
  const { passed, failed } = await mutations();
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
