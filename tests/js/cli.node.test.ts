// The command `softlookup`, in a Node of its own.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { runNode } from "./child.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = `${root}dist/cli.js`;
const timeout = 30_000;

const folder = mkdtempSync(join(tmpdir(), "softlookup-cli-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const softlookup = (...args: string[]) => runNode([cli, ...args], { cwd: folder });

/** A module of a user's, by its path from the folder in which the command runs. */
function userModule(name: string, source: string): string {
  writeFileSync(join(folder, name), source);
  return name;
}

const usesPackage = `import { scaledDotProductAttention, faultyAttention } from ${JSON.stringify(
  new URL("../../dist/index.js", import.meta.url).href,
)};\n`;

describe("softlookup", () => {
  test("is named in package.json, and can be started", () => {
    const { bin } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { bin: unknown };
    expect(bin).toEqual({ softlookup: "dist/cli.js" });
    expect(readFileSync(cli, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test("--help shows every command and option", { timeout }, async () => {
    const { code, stdout, stderr } = await softlookup("--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of [
      "trace",
      "leak",
      "--hidden_size",
      "--export",
      "--length",
      "--dim",
      "--heads",
      "--seed",
    ]) {
      expect(stdout).toContain(word);
    }
  });

  test("--version is the package's", { timeout }, async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string };
    expect(await softlookup("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([
    ["no command", [], /command is wanted/],
    ["an unknown command", ["tarce"], /"tarce"/],
    ["an unknown option", ["trace", "--hidden", "64"], /--hidden/],
    ["heads that do not divide", ["trace", "--num_key_value_heads", "3"], /numKvHeads = 3/],
    ["a size that is no number", ["trace", "--hidden_size", "big"], /hiddenSize/],
    ["leak without a module", ["leak"], /one module/],
    ["a module that is not there", ["leak", "nowhere.mjs"], /nowhere\.mjs/],
  ])("%s: exit code 2 and a word about it", { timeout }, async (_, args, message) => {
    const { code, stdout, stderr } = await softlookup(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

test("softlookup trace prints what the example prints", { timeout }, async () => {
  const args = ["--hidden_size", "96", "--num_attention_heads", "6", "--num_key_value_heads", "3"];
  const traced = await softlookup("trace", ...args);
  const example = await runNode(["examples/trace_attention_shapes.mjs", ...args], { cwd: root });
  expect(traced).toEqual(example);
  expect(traced.stdout).toContain("scores.shape=(2, 6, 5, 5)\n");
  expect(traced.stdout).toMatch(/\nmanual_vs_module_max_abs_diff=0\.000000000000\n$/);
});

describe("softlookup leak", () => {
  test("a causal function: exit code 0", { timeout }, async () => {
    const file = userModule(
      "causal.mjs",
      `${usesPackage}export default ({ q, k, v }) => scaledDotProductAttention(q, k, v, { causal: true });`,
    );
    const { code, stdout, stderr } = await softlookup(
      "leak",
      file,
      "--length",
      "5",
      "--dim",
      "4",
      "--heads",
      "1",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^causal: .*\n5 tokens, \d+ calls, compared to the bit\n$/);
  });

  test("a function without a mask: exit code 1 and where it leaks", { timeout }, async () => {
    const file = userModule(
      "open.mjs",
      `${usesPackage}export const open = async ({ q, k, v }) => scaledDotProductAttention(q, k, v).output;`,
    );
    const { code, stdout } = await softlookup("leak", file, "--export", "open", "--length", "4");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^LEAK: /);
    for (const cut of [0, 1, 2]) {
      const positions = Array.from({ length: cut + 1 }, (_, position) => position).join(", ");
      expect(stdout).toContain(`  tokens after ${cut} replaced (`);
      expect(stdout).toContain(`: outputs ${positions} moved by up to `);
    }
  });

  test("a mask by multiplication: NaN comes through, exit code 1", { timeout }, async () => {
    const file = userModule(
      "poison.mjs",
      `export default ({ v: { data, shape } }) => {
        const [, heads, length, width] = shape;
        const output = data.map((own, index) => {
          const head = Math.floor(index / (length * width)) * length * width;
          let sum = own;
          for (let i = head + (index % width); i < head + length * width; i += width) sum += 0 * data[i];
          return sum;
        });
        return { data: output, shape };
      };`,
    );
    const { code, stdout } = await softlookup("leak", file, "--length", "3");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^NaN POISONING: /);
    expect(stdout).toContain("replaced (nan): outputs 0");
  });

  test("a diagonal that is off by one is pointed out", { timeout }, async () => {
    const file = userModule(
      "off.mjs",
      `${usesPackage}export default ({ q, k, v }) => faultyAttention("diagonal-minus-one", q, k, v);`,
    );
    const { code, stdout } = await softlookup("leak", file, "--length", "3");
    expect(code).toBe(0);
    expect(stdout).toMatch(/ignore their own token.*: 0, 1\n$/);
  });

  test.each([
    ["no such export", "export const one = 1;", [], /exports no function "default", but one/],
    ["an export that is no function", "export default 1;", [], /exports no function "default", but default/],
    ["a result that is no tensor", "export default () => 1n;", [], /neither a tensor/],
    [
      "a function that throws",
      "export default () => { throw new Error('broken inside'); };",
      [],
      /broken inside/,
    ],
    ["a module that throws", "throw new Error('broken outside');", [], /broken outside/],
    ["a length that is no number", "export default ({ q }) => q;", ["--length", "long"], /shape/],
    ["an unknown option", "export default ({ q }) => q;", ["--size", "3"], /--size/],
  ])("%s: exit code 2", { timeout }, async (name, source, options, message) => {
    const file = userModule(`${name.replaceAll(" ", "-")}.mjs`, source);
    const { code, stdout, stderr } = await softlookup("leak", file, ...options);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});
