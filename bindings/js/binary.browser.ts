import type { Simd } from "./types.js";

type Binary = Uint8Array<ArrayBuffer> | Response;

/** The binary beside this module: its bytes in Node, a response elsewhere. Rejects when it cannot be had. */
export function defaultBinary(simd: Simd): Promise<Binary> {
  // Written out, for bundlers to see both.
  return fetch(
    simd === "relaxed"
      ? new URL("./softlookup.relaxed.wasm", import.meta.url)
      : new URL("./softlookup.wasm", import.meta.url),
  );
}

export function binaryAt(url: URL | string): Promise<Binary> {
  return fetch(url);
}
