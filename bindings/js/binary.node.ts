import { readFile } from "node:fs/promises";
import type { Simd } from "./types.js";

type Binary = Uint8Array<ArrayBuffer> | Response;

export function defaultBinary(simd: Simd): Promise<Binary> {
  const name = simd === "relaxed" ? "softlookup.relaxed.wasm" : "softlookup.wasm";
  return binaryAt(new URL(`./${name}`, import.meta.url));
}

/** Node's fetch knows no file: URLs. */
export async function binaryAt(url: URL | string): Promise<Binary> {
  return String(url).startsWith("file:") ? new Uint8Array(await readFile(new URL(url))) : fetch(url);
}
