import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isOlder, lacking, requirements } from "./requirements.mjs";
import { isInstalled, plan } from "./setup.mjs";

const named = (name) => requirements.find((requirement) => requirement.name === name);
const missing = (...names) => names.map((name) => ({ ...named(name), problem: () => "missing" }));
const present = (...names) => names.map((name) => ({ ...named(name), problem: () => null }));

test("nothing missing: nothing to do, with or without apt", () => {
  const lacks = lacking("test", present("em++", "cmake"));
  assert.deepEqual(plan(lacks, "root"), { action: "nothing" });
  assert.deepEqual(plan(lacks, null), { action: "nothing" });
});

test("root: exactly the packages of what is missing, each once", () => {
  const all = [...missing("em++", "xtensor headers", "xtl headers"), ...present("cmake")];
  assert.deepEqual(plan(lacking("build", all), "root"), {
    action: "apt",
    packages: ["emscripten", "libxtensor-dev"],
    prefix: [],
  });
});

test("not root: through sudo", () => {
  assert.deepEqual(plan(lacking("build", missing("ninja")), "sudo").prefix, ["sudo"]);
});

test("building does not ask for what only the tests need", () => {
  const all = missing("ninja", "Chromium");
  assert.deepEqual(plan(lacking("build", all), "root").packages, ["ninja-build"]);
  assert.deepEqual(plan(lacking("test", all), "root").packages, ["ninja-build", "chromium"]);
});

test("without apt: stops, and names emsdk, brew and conda", () => {
  const { action, message } = plan(lacking("test", missing("em++", "xtensor headers")), null);
  assert.equal(action, "stop");
  for (const word of ["emsdk", "brew", "conda", "emscripten", "libxtensor-dev"])
    assert.match(message, RegExp(word));
});

test("a program that is too old on PATH: apt would not mend it", () => {
  const old = { ...named("em++"), problem: () => "em++ is version 3.1.5, wanted is 3.1.6 or newer" };
  const { action, message } = plan(lacking("build", [old, ...missing("ninja")]), "root");
  assert.equal(action, "stop");
  assert.match(message, /3\.1\.5/);
});

test("SOFTLOOKUP_NO_APT: the script exits with 1 and never calls apt-get", () => {
  const folder = mkdtempSync(join(tmpdir(), "softlookup-setup-"));
  const called = join(folder, "called");
  writeFileSync(join(folder, "apt-get"), `#!/bin/sh\n: > "${called}"\n`, { mode: 0o755 });
  const { status, stderr } = spawnSync(process.execPath, ["scripts/setup.mjs"], {
    env: { PATH: folder, SOFTLOOKUP_NO_APT: "1" },
    encoding: "utf8",
  });
  assert.equal(status, 1);
  assert.match(stderr, /emsdk/);
  assert.equal(existsSync(called), false);
});

test("versions compare by number", () => {
  assert.equal(isOlder("3.1.5", "3.1.6"), true);
  assert.equal(isOlder("3.1", "3.1.6"), true);
  assert.equal(isOlder("3.1.6", "3.1.6"), false);
  assert.equal(isOlder("3.1.10", "3.1.6"), false);
  assert.equal(isOlder("6.0.1", "3.1.6"), false);
});

test("npm packages are installed when they are the lock file's, optional ones apart", () => {
  const lock = {
    packages: {
      "": {},
      "node_modules/a": { version: "1.0.0" },
      "node_modules/b": { version: "1.0.0", optional: true },
    },
  };
  assert.equal(isInstalled(lock, { packages: { "node_modules/a": { version: "1.0.0" } } }), true);
  assert.equal(isInstalled(lock, { packages: { "node_modules/a": { version: "1.0.1" } } }), false);
  assert.equal(isInstalled(lock, { packages: {} }), false);
});
