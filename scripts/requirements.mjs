// What the repository needs of the machine, and how to see whether it is there. The thing itself is looked
// for, not a package of that name: it does not matter where it came from.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findChromium } from "./chromium.mjs";
import { findFirefox } from "./firefox.mjs";
import { which } from "./which.mjs";

const ask = (command, ...args) => spawnSync(command, args, { encoding: "utf8" }).stdout ?? "";

/** "3.1.5" and "3.1" are older than "3.1.6". */
export function isOlder(version, minimum) {
  const [have, want] = [version, minimum].map((text) => text.split(".").map(Number));
  const place = want.findIndex((part, i) => part !== (have[i] ?? 0));
  return place >= 0 && (have[place] ?? 0) < want[place];
}

// Each kind of check gives a function that returns what is wrong, or null.

const MISSING = "missing";

const program =
  (...names) =>
  () =>
    which(...names) ? null : MISSING;

const programSince = (name, minimum) => () => {
  const path = which(name);
  if (!path) return MISSING;
  const version = /\d+(\.\d+)+/.exec(ask(path, "--version"))?.[0];
  if (version && !isOlder(version, minimum)) return null;
  return `${path} is version ${version ?? "unknown"}, wanted is ${minimum} or newer`;
};

const header =
  (...names) =>
  () => {
    // Where cmake/dependencies.cmake looks.
    const { CMAKE_PREFIX_PATH = "", CONDA_PREFIX = "" } = process.env;
    const prefixes = [
      ...CMAKE_PREFIX_PATH.split(/[:;]/),
      CONDA_PREFIX,
      "/usr/local",
      "/opt/homebrew",
      "/usr",
    ];
    const folders = prefixes.filter(Boolean).map((prefix) => join(prefix, "include"));
    const found = folders.some((folder) => names.some((name) => existsSync(join(folder, name))));
    return found ? null : MISSING;
  };

/** A Python that has a module, if there is one: the one on PATH need not be the one that apt installs for. */
const findPython = (module) =>
  [which("python3"), "/usr/bin/python3"]
    .filter((path) => path && existsSync(path))
    .find((path) => spawnSync(path, ["-c", `import ${module}`]).status === 0);

export const findNumPy = () => findPython("numpy");
export const findPyTorch = () => findPython("torch");

const chineseFont = () => {
  if (process.platform !== "linux") return null; // the system brings one
  const found = which("fc-list")
    ? ask("fc-list", ":lang=zh").trim()
    : existsSync("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc");
  return found ? null : MISSING;
};

/**
 * "build" needs are what `npm start` wants, `npm test` wants "test" as well. `apt`, `brew` and `conda` are
 * package names there; `otherwise` is one more way.
 */
export const requirements = [
  {
    name: "em++",
    use: "C++ → WebAssembly",
    purpose: "build",
    problem: programSince("em++", "3.1.6"),
    apt: "emscripten",
    brew: "emscripten",
    conda: "emscripten",
    otherwise: "emsdk: ./emsdk install latest && ./emsdk activate latest && source ./emsdk_env.sh",
  },
  {
    name: "cmake",
    use: "C++ build",
    purpose: "build",
    problem: programSince("cmake", "3.20"),
    apt: "cmake",
    brew: "cmake",
    conda: "cmake",
  },
  {
    name: "ninja",
    use: "C++ build",
    purpose: "build",
    problem: program("ninja"),
    apt: "ninja-build",
    brew: "ninja",
    conda: "ninja",
  },
  {
    name: "xtensor headers",
    use: "arrays of the core",
    purpose: "build",
    problem: header("xtensor/xtensor_config.hpp", "xtensor/core/xtensor_config.hpp"),
    apt: "libxtensor-dev",
    brew: "xtensor",
    conda: "xtensor",
  },
  {
    name: "xtl headers",
    use: "needed by xtensor",
    purpose: "build",
    problem: header("xtl/xtl_config.hpp"),
    apt: "libxtensor-dev", // depends on it, whatever its name
    brew: "xtl",
    conda: "xtl",
  },
  {
    name: "Highway headers",
    use: "portable SIMD of the kernel",
    purpose: "build",
    problem: header("hwy/highway.h"),
    apt: "libhwy-dev",
    brew: "highway",
    conda: "libhwy",
  },
  {
    name: "C++ compiler",
    use: "native tests",
    purpose: "test",
    problem: program("g++", "clang++"),
    apt: "g++",
    brew: "llvm",
    conda: "cxx-compiler",
  },
  {
    name: "Catch2 headers",
    use: "C++ tests",
    purpose: "test",
    problem: header("catch2/catch.hpp"),
    apt: "catch2",
    brew: "—",
    conda: "catch2=2.13",
    otherwise: "Catch2 2.13: the single header as catch2/catch.hpp in an include folder",
  },
  {
    name: "nlohmann-json headers",
    use: "C++ tests",
    purpose: "test",
    problem: header("nlohmann/json.hpp"),
    apt: "nlohmann-json3-dev",
    brew: "nlohmann-json",
    conda: "nlohmann_json",
  },
  {
    name: "clang-format",
    use: "lint",
    purpose: "test",
    problem: program("clang-format"),
    apt: "clang-format",
    brew: "clang-format",
    conda: "clang-format",
  },
  {
    name: "clang-tidy",
    use: "lint",
    purpose: "test",
    problem: program("clang-tidy"),
    apt: "clang-tidy",
    brew: "llvm",
    conda: "clang-tools",
  },
  {
    name: "Chromium",
    use: "browser tests",
    purpose: "test",
    problem: () => (findChromium() ? null : MISSING),
    apt: "chromium",
    brew: "chromium",
    conda: "—",
    otherwise: "Chromium: any Chrome, its path in SOFTLOOKUP_CHROMIUM",
  },
  {
    name: "Firefox",
    use: "page tests",
    purpose: "test",
    problem: () => (findFirefox() ? null : MISSING),
    apt: "firefox-esr",
    brew: "firefox",
    conda: "firefox",
    otherwise: "Firefox: its path in SOFTLOOKUP_FIREFOX",
  },
  {
    name: "NumPy",
    use: "page tests: runs the copied programs",
    purpose: "test",
    problem: () => (findNumPy() ? null : MISSING),
    apt: "python3-numpy",
    brew: "numpy",
    conda: "numpy",
  },
  {
    name: "PyTorch",
    use: "page tests: runs the copied programs",
    purpose: "test",
    problem: () => (findPyTorch() ? null : MISSING),
    apt: "python3-torch",
    brew: "pytorch",
    conda: "pytorch",
  },
  {
    name: "Chinese font",
    use: "page tests",
    purpose: "test",
    problem: chineseFont,
    apt: "fonts-noto-cjk",
    brew: "font-noto-sans-cjk",
    conda: "—",
  },
];

/** What the purpose lacks: requirements, each with its problem. */
export function lacking(purpose, all = requirements) {
  return all
    .filter((requirement) => purpose === "test" || requirement.purpose === "build")
    .map((requirement) => ({ ...requirement, problem: requirement.problem() }))
    .filter(({ problem }) => problem !== null);
}

export const isMissing = ({ problem }) => problem === MISSING;
