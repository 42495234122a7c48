import { readFile } from "node:fs/promises";

export function defaultBinary(): Promise<Uint8Array<ArrayBuffer> | Response> {
  return binaryAt(new URL("./softlookup.wasm", import.meta.url));
}

/** Node's fetch knows no file: URLs. */
export async function binaryAt(url: URL | string): Promise<Uint8Array<ArrayBuffer> | Response> {
  return String(url).startsWith("file:") ? new Uint8Array(await readFile(new URL(url))) : fetch(url);
}
