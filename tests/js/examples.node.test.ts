// Every example runs in a Node of its own, and prints what it should.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runNode } from "./child.js";
import mhaFile from "../golden/mha.json" with { type: "json" };
import sdpaFile from "../golden/sdpa.json" with { type: "json" };

const root = fileURLToPath(new URL("../../", import.meta.url));
const timeout = 30_000;

async function printedBy(name: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runNode([`examples/${name}.mjs`, ...args], { cwd: root });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trimEnd().split("\n");
}

/** The matrix printed after the line that begins with `title`. */
function matrixAfter(lines: readonly string[], title: string): number[][] {
  const first = lines.findIndex((line) => line.startsWith(title)) + 1;
  expect(first, title).toBeGreaterThan(0);
  const last = lines.findIndex((line, index) => index >= first && line.endsWith("]]"));
  const text = lines.slice(first, last + 1).join("");
  return JSON.parse(text.replaceAll("-inf", "-1e999")) as number[][];
}

test("examples/ holds what is tested here", () => {
  expect(readdirSync(`${root}examples`).sort()).toEqual([
    "01_attention.mjs",
    "02_against_torch.mjs",
    "03_multihead.mjs",
    "04_causal_mask.mjs",
    "golden.mjs",
    "print.mjs",
    "trace_attention_shapes.mjs",
  ]);
});

test("the examples import nothing but the package, Node and each other", () => {
  for (const name of readdirSync(`${root}examples`)) {
    const source = readFileSync(`${root}examples/${name}`, "utf8");
    for (const [, from] of source.matchAll(/^import .* from "(.*)";$/gm)) {
      expect(from, name).toMatch(/^(softlookup(\/torch)?|node:\w+|\.\/(golden|print)\.mjs)$/);
    }
  }
});

test("01_attention prints the chapter's numbers, step by step", { timeout }, async () => {
  const lines = await printedBy("01_attention");
  expect(matrixAfter(lines, "1. scores")).toEqual([
    [2, 1, 1, 1],
    [1, 1, 0, 0.5],
    [1, 0, 1, 0.5],
    [1, 0.5, 0.5, 0.5],
  ]);
  expect(matrixAfter(lines, "2. scaled")[0]).toEqual([1.4142, 0.7071, 0.7071, 0.7071]);
  expect(matrixAfter(lines, "3. weights")).toEqual([
    [0.4034, 0.1989, 0.1989, 0.1989],
    [0.313, 0.313, 0.1543, 0.2198],
    [0.313, 0.1543, 0.313, 0.2198],
    [0.3219, 0.226, 0.226, 0.226],
  ]);
  expect(matrixAfter(lines, "4. output")).toEqual([
    [0.7017, 0.4972],
    [0.5772, 0.5772],
    [0.7358, 0.5772],
    [0.6609, 0.5651],
  ]);
});

describe.each([
  ["02_against_torch", sdpaFile.cases, 1],
  ["03_multihead", mhaFile.cases, 0],
])("%s", (name, cases, leftOut) => {
  test("compares every case with PyTorch and prints how far apart they are", { timeout }, async () => {
    const lines = await printedBy(name);
    const compared = lines.flatMap((line) => {
      const [, of, difference] = /^(\S+) +max \|difference\| = (\d\.\d\de-\d+)$/.exec(line) ?? [];
      return of === undefined ? [] : [{ of, difference: Number(difference) }];
    });
    const all = cases.map((golden) => golden.name);
    const missing = all.filter((caseName) => !compared.some(({ of }) => of === caseName));
    expect(missing.length).toBe(leftOut);
    expect(compared.filter(({ difference }) => !(difference < 1e-5))).toEqual([]);
    expect(compared.some(({ difference }) => difference > 0)).toBe(true);
    const count = all.length - leftOut;
    expect(lines.at(-1)).toBe(`${count} of ${count} cases agree with PyTorch`);
  });
});

test("04_causal_mask prints the mask, the weights and the verdicts", { timeout }, async () => {
  const lines = await printedBy("04_causal_mask");
  const below = (i: number, j: number) => j <= i;
  const square = (cell: (i: number, j: number) => number) =>
    Array.from({ length: 5 }, (_, i) => Array.from({ length: 5 }, (__, j) => cell(i, j)));
  expect(matrixAfter(lines, "mask")).toEqual(square((i, j) => (below(i, j) ? 1 : 0)));
  expect(matrixAfter(lines, "added")).toEqual(square((i, j) => (below(i, j) ? 0 : -Infinity)));
  const weights = matrixAfter(lines, "weights");
  expect(weights.map((row) => row.map((weight) => weight > 0))).toEqual(
    square((i, j) => (below(i, j) ? 1 : 0)).map((row) => row.map(Boolean)),
  );
  for (const row of weights) {
    expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 3);
  }
  const verdicts = lines.slice(-3).map((line) => line.replace(/ \(\d+ calls\)$/, ""));
  expect(verdicts).toEqual([
    "causal attention: causal",
    "without a mask: leak, first when the tokens after 0 were replaced",
    "mask after softmax: leak, first when the tokens after 0 were replaced",
  ]);
});

describe("trace_attention_shapes", () => {
  /** What the lesson expects, in its order. */
  const labs: [string, string[], string[]][] = [
    [
      "lab A",
      [],
      [
        "x.shape=(2, 5, 64)",
        "head_dim=16",
        "q_proj(x).shape=(2, 5, 64)",
        "k_proj(x).shape=(2, 5, 32)",
        "v_proj(x).shape=(2, 5, 32)",
        "xq.shape=(2, 5, 4, 16)",
        "xk after repeat shape=(2, 5, 4, 16)",
        "scores.shape=(2, 4, 5, 5)",
      ],
    ],
    [
      "lab B",
      ["--hidden_size", "96", "--num_attention_heads", "6", "--num_key_value_heads", "3"],
      [
        "x.shape=(2, 5, 96)",
        "head_dim=16",
        "q_proj(x).shape=(2, 5, 96)",
        "k_proj(x).shape=(2, 5, 48)",
        "v_proj(x).shape=(2, 5, 48)",
        "xq.shape=(2, 5, 6, 16)",
        "xk after repeat shape=(2, 5, 6, 16)",
        "scores.shape=(2, 6, 5, 5)",
      ],
    ],
  ];

  test.each(labs)("%s", { timeout }, async (_, args, expected) => {
    const lines = await printedBy("trace_attention_shapes", ...args);
    expect(lines.slice(0, 8)).toEqual(expected);
    expect(lines[8]).toBe("attention weights for batch 0, head 0 =");
    const weights = matrixAfter(lines, "attention weights");
    expect(weights.map((row) => row.map((weight) => weight > 0))).toEqual(
      Array.from({ length: 5 }, (__, i) => Array.from({ length: 5 }, (___, j) => j <= i)),
    );
    expect(lines.slice(14)).toEqual([
      "future_attention_mass_for_batch0_head0=0.0000000000",
      "manual_vs_module_max_abs_diff=0.000000000000",
    ]);
  });

  test("another seed gives other weights, and still no difference", { timeout }, async () => {
    const [one, two, again] = await Promise.all(
      ["1", "2", "2"].map((seed) => printedBy("trace_attention_shapes", "--seed", seed)),
    );
    expect(two).not.toEqual(one);
    expect(again).toEqual(two);
    expect(two?.at(-1)).toBe("manual_vs_module_max_abs_diff=0.000000000000");
  });

  // A comparison that could not fail would show nothing.
  test("a mistake in the manual side shows in the difference", { timeout }, async () => {
    const source = readFileSync(`${root}examples/trace_attention_shapes.mjs`, "utf8")
      .replace("length: i + 1", "length")
      .replace('"./print.mjs"', JSON.stringify(new URL("../../examples/print.mjs", import.meta.url).href));
    expect(source).not.toContain("length: i + 1");
    const script = `${source}\nconsole.log(traceAttentionShapes([]).at(-1));`;
    const { stdout } = await runNode(["--input-type=module", "--eval", script], { cwd: root });
    expect(Number(stdout.split("=")[1])).toBeGreaterThan(1e-3);
  });
});
