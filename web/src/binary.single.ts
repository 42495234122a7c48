// In place of the package's own where the page is one file: the plain binary alone, which every engine can run. Both
// would stand in it twice, for the page and for its worker.

export const defaultBinary = (): Promise<Response> =>
  fetch(new URL("../../dist/softlookup.wasm", import.meta.url));

export const binaryAt = (url: URL | string): Promise<Response> => fetch(url);
