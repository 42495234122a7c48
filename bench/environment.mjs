// What differs between Node and a browser: where files are and how they are read.

export const isNode = typeof process !== "undefined";

/** The repository's root: a folder, or the server's. */
export const root = isNode ? new URL("../", import.meta.url) : new URL("/", location.href);

export const urlOf = (path) => new URL(path, root).href;

export const bundleFolder = "build/bench/package/";

/** The package's file of this name; a page gets it from a bundler, which has chosen for a browser. */
export const packageUrl = (name) => urlOf(`${isNode ? "dist/" : bundleFolder}${name}`);

/** @returns {Promise<Uint8Array | null>} null where there is no such file */
export async function readBytes(path) {
  if (isNode) {
    const { existsSync, readFileSync } = await import("node:fs");
    const url = new URL(path, root);
    return existsSync(url) ? readFileSync(url) : null;
  }
  const response = await fetch(urlOf(path));
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
}

export const readJson = async (path) => JSON.parse(new TextDecoder().decode(await readBytes(path)));
