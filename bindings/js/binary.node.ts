import { readFile } from "node:fs/promises";

export async function defaultBinary(): Promise<Uint8Array<ArrayBuffer> | Response> {
  return new Uint8Array(await readFile(new URL("./softlookup.wasm", import.meta.url)));
}
