// A static file server on the loopback address.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, resolve, sep } from "node:path";
import { createGzip } from "node:zlib";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
};

/** The file that a request's path means, or undefined: none, or one outside of the folder. */
function fileOf(folder, base, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return undefined;
  }
  if (!path.startsWith(base)) return undefined;
  const file = resolve(folder, `./${path.slice(base.length)}`, path.endsWith("/") ? "index.html" : "");
  const inside = file.startsWith(resolve(folder) + sep);
  return inside && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

/**
 * Serves a folder under the path `base`; port 0 takes a free one; `gzip` as a public server would. Resolves
 * when it listens.
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export function serve(folder, { port = 0, base = "/", headers = {}, gzip = false } = {}) {
  const server = createServer(({ method, url }, response) => {
    const file = fileOf(folder, base, url);
    if (!file || !["GET", "HEAD"].includes(method)) {
      response.writeHead(file ? 405 : 404, headers).end();
      return;
    }
    const smaller = gzip && !/\.(png|woff2?)$/.test(file);
    response.writeHead(200, {
      "content-type": types[extname(file)] ?? "application/octet-stream",
      ...(smaller ? { "content-encoding": "gzip" } : { "content-length": statSync(file).size }),
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      ...headers,
    });
    if (method === "HEAD") response.end();
    else if (smaller) createReadStream(file).pipe(createGzip()).pipe(response);
    else createReadStream(file).pipe(response);
  });
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => {
      done({
        url: `http://127.0.0.1:${server.address().port}${base}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
