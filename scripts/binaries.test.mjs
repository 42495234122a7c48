import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { plainBinary, relaxedBinary } from "./binaries.mjs";
import { features, moduleWith } from "./test-module.mjs";

const locals = ["$a", "$b", "$c", "$d"];
const two = "(v128.const f32x4 2 2 2 2)";
/** local = (local · 2 + 2) · 2 + 2 */
const chain = (local) =>
  `(local.set ${local} ${["", ""].reduce((x) => `(f32x4.add (f32x4.mul ${x} ${two}) ${two})`, `(local.get ${local})`)})`;
const last = locals.map((local) => `(local.get ${local})`).reduce((x, y) => `(f32x4.max ${x} ${y})`);
const chains = `${locals.map(chain).join(" ")} ${last}`;

const bytesOf = (body) => moduleWith(body).emitBinary();
const sectionsOf = (binary) =>
  WebAssembly.Module.customSections(new WebAssembly.Module(binary), "relaxed-simd").length;

describe("the two binaries", () => {
  test("are valid, and the relaxed one says so", () => {
    assert.equal(sectionsOf(plainBinary(bytesOf(chains), features)), 0);
    assert.equal(sectionsOf(relaxedBinary(bytesOf(chains), features)), 1);
  });

  test("of what has nothing to put in step are refused: the compiler writes something else", () => {
    assert.throws(() => plainBinary(bytesOf(`${chain("$a")} ${last}`), features), /inStep found nothing/);
  });

  test("of what has nothing to fuse are refused", () => {
    const differences = chains.replaceAll("f32x4.add", "f32x4.sub");
    assert.doesNotThrow(() => plainBinary(bytesOf(differences), features));
    assert.throws(() => relaxedBinary(bytesOf(differences), features), /fuse found nothing/);
  });
});
