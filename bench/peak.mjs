// What the machine can do, measured beside the rest: multiply-adds a second, and bytes read a second.

import { readBytes } from "./environment.mjs";
import { binaries, chains, iterationOperations } from "./peak-binary.mjs";

const iterations = 300_000; // some milliseconds
const bytes = 128 * 2 ** 20; // more than a cache holds

/**
 * Contenders like others; `amount` is what one run does.
 * @returns [{ peer, unit: "operations" | "bytes", amount, run }]
 */
export async function meters() {
  const found = [];
  for (const [kind, path] of Object.entries(binaries)) {
    const binary = await readBytes(path);
    if (!WebAssembly.validate(binary)) continue; // the engine has no relaxed SIMD
    const { exports } = (await WebAssembly.instantiate(binary)).instance;
    for (const count of chains) {
      found.push({
        peer: `peak, ${kind}, ${count} chains`,
        unit: "operations",
        amount: iterations * iterationOperations(count),
        run: () => exports[`multiplyAdd${count}`](iterations, 0.5, 1),
      });
    }
    if (kind === "plain") {
      const { memory } = exports;
      memory.grow(bytes / 65536);
      new Uint8Array(memory.buffer).fill(1); // untouched pages would all be one and the same
      found.push({ peer: "bandwidth", unit: "bytes", amount: bytes, run: () => exports.read(bytes) });
    }
  }
  return found;
}
