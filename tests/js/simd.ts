// Runs before each file of a project with one of the two binaries.

import { expect, inject } from "vitest";
import { relaxedSimd } from "wasm-feature-detect";

declare module "vitest" {
  interface ProvidedContext {
    simd: "plain" | "relaxed";
  }
}

if (inject("simd") === "plain") {
  // An engine without relaxed SIMD, as far as the package can find out.
  const { validate } = WebAssembly;
  WebAssembly.validate = (bytes) => bytes.byteLength > 100 && validate(bytes);
}

expect(await relaxedSimd()).toBe(inject("simd") === "relaxed");
