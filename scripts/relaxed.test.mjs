import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fuse } from "./relaxed.mjs";
import { lanes, moduleWith } from "./test-module.mjs";

function becomes(before, after, places) {
  const module = moduleWith(before);
  const values = lanes(module);
  assert.equal(fuse(module), places);
  assert.ok(module.validate());
  assert.equal(module.emitText(), moduleWith(after).emitText());
  assert.deepEqual(lanes(module), values);
}

const stays = (body) => becomes(body, body, 0);

const product = "(f32x4.mul (local.get $a) (local.get $b))";
const fused = "(f32x4.relaxed_madd (local.get $a) (local.get $b) (local.get $c))";

describe("a product and a sum become one", () => {
  test("the product first", () => becomes(`(f32x4.add ${product} (local.get $c))`, fused, 1));
  test("the product last", () => becomes(`(f32x4.add (local.get $c) ${product})`, fused, 1));

  test("both: the first product", () =>
    becomes(
      `(f32x4.add ${product} (f32x4.mul (local.get $c) (local.get $c)))`,
      "(f32x4.relaxed_madd (local.get $a) (local.get $b) (f32x4.mul (local.get $c) (local.get $c)))",
      1,
    ));

  test("a chain of them", () =>
    becomes(
      `(f32x4.add (f32x4.mul (f32x4.add (local.get $c) ${product}) (local.get $b)) (local.get $a))`,
      `(f32x4.relaxed_madd ${fused} (local.get $b) (local.get $a))`,
      2,
    ));

  test("around what writes a local that the other part does not know", () =>
    becomes(
      "(f32x4.add (local.get $c) (f32x4.mul (local.tee $d (v128.load (i32.const 0))) (local.get $d)))",
      "(f32x4.relaxed_madd (local.tee $d (v128.load (i32.const 0))) (local.get $d) (local.get $c))",
      1,
    ));

  test("loads on both sides", () =>
    becomes(
      "(f32x4.add (v128.load (i32.const 0)) (f32x4.mul (v128.load32_splat (i32.const 4)) (local.get $a)))",
      "(f32x4.relaxed_madd (v128.load32_splat (i32.const 4)) (local.get $a) (v128.load (i32.const 0)))",
      1,
    ));

  test("the product first, whatever the parts do: nothing moves", () =>
    becomes(
      "(f32x4.add (f32x4.mul (local.tee $c (local.get $a)) (call $other)) (local.get $c))",
      "(f32x4.relaxed_madd (local.tee $c (local.get $a)) (call $other) (local.get $c))",
      1,
    ));

  const inside = {
    "a block": (x) => `(block (result v128) (drop (i32.const 0)) ${x})`,
    "a loop": (x) => `(loop (result v128) ${x})`,
    "a branch": (x) => `(if (result v128) (i32.const 1) (then ${x}) (else (local.get $b)))`,
    "the other branch": (x) => `(if (result v128) (i32.const 0) (then (local.get $b)) (else ${x}))`,
    "what a branch takes along": (x) => `(block $out (result v128) (br $out ${x}))`,
    "a choice": (x) => `(select ${x} (local.get $b) (i32.const 1))`,
    "a return": (x) => `(return ${x})`,
    "what is dropped": (x) => `(drop ${x}) (local.get $a)`,
    "a local": (x) => `(local.set $d ${x}) (local.get $d)`,
    "a store": (x) => `(v128.store (i32.const 0) ${x}) (v128.load (i32.const 0))`,
    "a unary operation": (x) => `(f32x4.sqrt ${x})`,
    "a binary operation": (x) => `(f32x4.max ${x} (local.get $c))`,
    "a ternary one": (x) => `(v128.bitselect (local.get $a) ${x} (local.get $c))`,
    "a shift": (x) => `(i32x4.shl ${x} (i32.const 1))`,
    "a lane": (x) => `(f32x4.splat (f32x4.extract_lane 2 ${x}))`,
    "a shuffle": (x) => `(i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ${x} (local.get $c))`,
    "what is tried": (x) => `(try (result v128) (do ${x}) (catch_all (local.get $a)))`,
    "what is caught": (x) => `(try (result v128) (do (throw $fault)) (catch $fault ${x}))`,
  };
  for (const [place, around] of Object.entries(inside)) {
    test(`inside ${place}`, () => becomes(around(`(f32x4.add ${product} (local.get $c))`), around(fused), 1));
  }
});

describe("stays as it is", () => {
  test("a sum without a product", () => stays("(f32x4.add (local.get $a) (local.get $c))"));
  test("a product without a sum", () => stays(product));
  test("a difference", () => stays(`(f32x4.sub (local.get $c) ${product})`));
  test("float64", () =>
    stays("(f64x2.add (f64x2.mul (local.get $a) (local.get $b)) (f64x2.mul (local.get $a) (local.get $c)))"));
  test("float64 around a product of float32", () => stays(`(f64x2.add ${product} (local.get $c))`));
  test("integers", () =>
    stays("(i32x4.add (i32x4.mul (local.get $a) (local.get $b)) (i32x4.mul (local.get $a) (local.get $c)))"));
  test("a product that is kept for later", () =>
    stays(`(local.set $d ${product}) (f32x4.add (local.get $d) (local.get $c))`));
});

describe("the order of what can be noticed is kept", () => {
  const orders = {
    "the product writes what the addend reads":
      "(f32x4.add (local.get $c) (f32x4.mul (local.tee $c (local.get $a)) (local.get $b)))",
    "the addend writes what the product reads":
      "(f32x4.add (local.tee $a (local.get $c)) (f32x4.mul (local.get $a) (local.get $b)))",
    "both write one local":
      "(f32x4.add (local.tee $d (local.get $c)) (f32x4.mul (local.tee $d (local.get $a)) (local.get $b))) (f32x4.mul (local.get $d))",
    "the product calls what writes to memory":
      "(f32x4.add (v128.load (i32.const 0)) (f32x4.mul (call $other) (local.get $b)))",
    "the addend calls what writes to memory":
      "(f32x4.add (call $other) (f32x4.mul (v128.load (i32.const 0)) (local.get $b)))",
  };
  for (const [name, body] of Object.entries(orders)) test(name, () => stays(body));

  test("a fusion that ignores it is noticed", () => {
    const wrong = "(f32x4.relaxed_madd (local.tee $c (local.get $a)) (local.get $b) (local.get $c))";
    assert.throws(() => becomes(Object.values(orders)[0], wrong, 1));
    assert.notDeepEqual(lanes(moduleWith(wrong)), lanes(moduleWith(Object.values(orders)[0])));
  });
});
