// The numbers of PyTorch and of the course in tests/golden, for the examples that compare with them.

import { readFileSync } from "node:fs";

/** The cases of a file. tests/golden/README.md describes the format. */
export function goldenCases(family) {
  const url = new URL(`../tests/golden/${family}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")).cases;
}

export function goldenCase(family, name) {
  return goldenCases(family).find((golden) => golden.name === name);
}

/** An input as a tensor: bytes for booleans, float32 otherwise; undefined when the case has none of the name. */
export function input({ inputs }, name) {
  if (!(name in inputs)) return undefined;
  const { dtype, shape, data } = inputs[name];
  return { data: dtype === "bool" ? Uint8Array.from(data) : Float32Array.from(data, Number), shape };
}

/** The largest difference from an output of the case, and whether its tolerance allows every one. */
export function compare({ outputs, tolerance: { abs, rel } }, name, got) {
  const { shape, data } = outputs[name];
  if (String(got.shape) !== String(shape)) {
    return { largest: Infinity, within: false };
  }
  const differences = data.map((wanted, i) => Math.abs(got.data[i] - Number(wanted)));
  return {
    largest: Math.max(0, ...differences),
    within: differences.every((difference, i) => difference <= abs + rel * Math.abs(Number(data[i]))),
  };
}

/** Compares case after case, prints a line for each and a last one, and makes the exit code 1 for a difference. */
export function compareAll(cases, computed) {
  const results = cases.map((golden) => {
    const parts = Object.entries(computed(golden)).map(([name, got]) => compare(golden, name, got));
    const largest = Math.max(...parts.map((part) => part.largest));
    const within = parts.every((part) => part.within);
    const verdict = within ? "" : "  DIFFERS";
    console.log(`${golden.name.padEnd(24)} max |difference| = ${largest.toExponential(2)}${verdict}`);
    return within;
  });
  const agreeing = results.filter(Boolean).length;
  console.log(`${agreeing} of ${cases.length} cases agree with PyTorch`);
  if (agreeing < cases.length) process.exitCode = 1;
}
