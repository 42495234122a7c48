// The WebAssembly that peak.mjs runs.

export const binaries = {
  plain: "build/bench/peak.plain.wasm",
  relaxed: "build/bench/peak.relaxed.wasm",
};

/** So many independent multiply-adds in flight: enough to hide their latency, few enough for 16 registers. */
export const chains = [8, 10, 13];

const unrolled = 4;

/** A multiply and an add of 4 lanes each. */
export const iterationOperations = (count) => unrolled * count * 4 * 2;

const steps = {
  plain: (x) => `(f32x4.add (f32x4.mul ${x} (local.get $a)) (local.get $b))`,
  relaxed: (x) => `(f32x4.relaxed_madd ${x} (local.get $a) (local.get $b))`,
};

const repeat = (count, text) => Array.from({ length: count }, (_, i) => text(i)).join("\n");

const multiplyAdd = (count, step) => `
  (func (export "multiplyAdd${count}") (param $n i32) (param $factor f32) (param $term f32) (result i32)
    (local $a v128) (local $b v128) ${repeat(count, (i) => `(local $x${i} v128)`)}
    (local.set $a (f32x4.splat (local.get $factor)))
    (local.set $b (f32x4.splat (local.get $term)))
    (loop $next
      ${repeat(unrolled, () => repeat(count, (i) => `(local.set $x${i} ${step(`(local.get $x${i})`)})`))}
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    ${repeat(count - 1, (i) => `(local.set $x0 (v128.xor (local.get $x0) (local.get $x${i + 1})))`)}
    (v128.any_true (local.get $x0)))`;

const vectorsRead = 8;

const read = `
  (func (export "read") (param $bytes i32) (result i32)
    (local $at i32) ${repeat(vectorsRead, (i) => `(local $x${i} v128)`)}
    (loop $next
      ${repeat(vectorsRead, (i) => `(local.set $x${i} (v128.xor (local.get $x${i}) (v128.load offset=${16 * i} (local.get $at))))`)}
      (br_if $next (i32.lt_u
        (local.tee $at (i32.add (local.get $at) (i32.const ${16 * vectorsRead})))
        (local.get $bytes))))
    ${repeat(vectorsRead - 1, (i) => `(local.set $x0 (v128.xor (local.get $x0) (local.get $x${i + 1})))`)}
    (v128.any_true (local.get $x0)))`;

/** @param kind one of the names in `binaries` */
export async function assemble(kind) {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.parseText(`(module
    (memory (export "memory") 0)
    ${chains.map((count) => multiplyAdd(count, steps[kind])).join("\n")}
    ${read})`);
  module.setFeatures(binaryen.Features.SIMD128 | binaryen.Features.RelaxedSIMD);
  if (!module.validate()) throw new Error("the peak's WebAssembly is not valid");
  return module.emitBinary();
}
