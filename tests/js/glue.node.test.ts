// What the built files must not contain.

import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";

const dist = new URL("../../dist/", import.meta.url);
const scripts = readdirSync(dist).filter((name) => name.endsWith(".js"));
const read = (name: string) => readFileSync(new URL(name, dist), "utf8");

test("the scripts are there", () => {
  expect(scripts).toEqual(
    expect.arrayContaining(["index.js", "load.js", "shared.js", "binary.node.js", "worker.node.js"]),
  );
  // Emscripten's glue is in there, under names that no minifier changes.
  expect(read("shared.js").length).toBeGreaterThan(1000);
  expect(read("shared.js")).toContain("WebAssembly");
  expect(read("shared.js")).toContain("instantiateWasm");
  expect(read("shared.js")).toContain("calledRun");
});

describe.each(scripts)("%s", (name) => {
  test("makes no code from text, which a strict Content-Security-Policy refuses", () => {
    const code = read(name);
    expect(code).not.toMatch(/\bnew\s+Function\b/);
    expect(code).not.toMatch(/\bFunction\s*\(/);
    expect(code).not.toMatch(/\beval\s*\(/);
    expect(code).not.toMatch(/\bset(Timeout|Interval)\s*\(\s*["'`]/);
  });

  test("asks for nothing of Node, except where it is meant for Node", () => {
    const code = read(name);
    const builtins =
      /\brequire\s*\(|\bcreateRequire\b|["'](node:)?(fs|fs\/promises|path|url|module|crypto|worker_threads)["']/;
    if (["binary.node.js", "worker.node.js", "cli.js"].includes(name)) {
      expect(code).toMatch(builtins);
    } else {
      expect(code).not.toMatch(builtins);
      expect(code).not.toMatch(/\b__dirname\b|\b__filename\b/);
    }
  });

  test("installs no handlers and holds no shared memory", () => {
    const code = read(name);
    expect(code).not.toMatch(/uncaughtException|unhandledRejection/);
    expect(code).not.toMatch(/\bshared\s*:\s*(true|!0)/);
    if (!name.startsWith("worker.")) {
      expect(code).not.toMatch(/\bnew\s+Worker\b/);
    }
  });

  test("addresses nothing by an absolute path", () => {
    expect(read(name)).not.toMatch(/file:\/\/\/|["'`](\/home|\/root|\/tmp|\/work|\/usr|\/opt)\//);
  });
});

test.each(["softlookup.wasm", "softlookup.relaxed.wasm"])(
  "nor does %s carry paths of the machine",
  (name) => {
    const text = readFileSync(new URL(name, dist)).toString("latin1");
    expect(text).toContain("numHeads");
    expect(text).not.toMatch(/\/(home|root|tmp|work|usr|opt|build)\/[\w./-]+/);
  },
);
