/** The binary beside this module: its bytes in Node, a response elsewhere. Rejects when it cannot be had. */
export function defaultBinary(): Promise<Uint8Array<ArrayBuffer> | Response> {
  return fetch(new URL("./softlookup.wasm", import.meta.url));
}

export function binaryAt(url: URL | string): Promise<Uint8Array<ArrayBuffer> | Response> {
  return fetch(url);
}
