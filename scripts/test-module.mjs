// Small modules for the tests of what is done to finished binaries.

import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import binaryen from "binaryen";
import { relaxedSimd } from "wasm-feature-detect";

if (!(await relaxedSimd())) setFlagsFromString("--experimental-wasm-relaxed-simd"); // Node before 22

const { SIMD128, RelaxedSIMD, ExceptionHandling } = binaryen.Features;

/** Of every module below, by Binaryen's names. */
export const features = ["SIMD128", "ExceptionHandling"];

/** A module around the body of `run`, which may use four vectors, of which the last is 0, an address, and memory. */
export function moduleWith(body) {
  const module = binaryen.parseText(
    `(module
      (tag $fault)
      (memory (export "memory") 1)
      (func $other (result v128) (v128.store (i32.const 0) (v128.const f32x4 9 9 9 9)) (v128.const f32x4 5 6 7 8))
      (func $run (result v128)
        (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $at i32)
        (local.set $a (v128.const f32x4 1 2 3 4))
        (local.set $b (v128.const f32x4 2 3 5 7))
        (local.set $c (v128.const f32x4 10 20 30 40))
        (v128.store (i32.const 0) (v128.const f32x4 11 13 17 19))
        ${body})
      (func (export "lane") (param $lane i32) (result f32)
        (v128.store (i32.const 16) (call $run))
        (f32.load (i32.add (i32.const 16) (i32.shl (local.get $lane) (i32.const 2))))))`,
    SIMD128 | RelaxedSIMD | ExceptionHandling,
  );
  assert.ok(module.validate());
  return module;
}

/** What `run` returns. The numbers are small and whole: fused or not, the arithmetic is exact. */
export function lanes(module) {
  const { lane } = new WebAssembly.Instance(new WebAssembly.Module(module.emitBinary())).exports;
  return [0, 1, 2, 3].map((index) => lane(index));
}
