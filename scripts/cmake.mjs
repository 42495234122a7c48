import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { run, root } from "./run.mjs";

/** Configures a preset. Without `tests` the test suite's headers are not needed. */
export async function configure(preset, { tests = true } = {}) {
  const folder = `${root}build/${preset}`;
  if (preset.startsWith("wasm")) await startAfreshForAnotherCompiler(folder);
  // Once configured with tests, a folder stays so.
  const keep = !tests && existsSync(`${folder}/build.ninja`);
  const choice = keep ? [] : [`-DSOFTLOOKUP_TESTS=${tests ? "ON" : "OFF"}`];
  await run("cmake", ["--preset", preset, ...choice], { capture: true });
}

export async function build(preset, ...targets) {
  const jobs = String(availableParallelism());
  await run("cmake", ["--build", "--preset", preset, "-j", jobs, "--target", ...targets]);
}

/** CMake does not notice when PATH leads to another Emscripten than it did at first. */
async function startAfreshForAnotherCompiler(folder) {
  const stamp = `${folder}/emscripten-version.txt`;
  const version = await run("em++", ["--version"], { capture: true });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === version) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, version);
}
