// The size of the package as a browser may download it, gzipped: one of the two binaries and all JavaScript but what is
// for Node. The pool, which only those download who import it, is counted apart.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Failure, root, runAsScript } from "./run.mjs";

const budget = 100_000;

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

const forNode = ["cli.js", "binary.node.js", "worker.node.js"];

/** Prints the sizes; whether they are within the budget. */
export function printSize() {
  const names = readdirSync(`${root}dist`).filter((file) => !forNode.includes(file));
  const sizesOf = (pattern) =>
    names
      .filter((name) => pattern.test(name))
      .map((name) => gzipSync(readFileSync(`${root}dist/${name}`), { level: 9 }).length);
  const total = (sizes) => sizes.reduce((sum, size) => sum + size, 0);
  const binaries = sizesOf(/\.wasm$/);
  const pool = total(sizesOf(/^(pool|worker).*\.js$/));
  const scripts = total(sizesOf(/\.js$/)) - pool;
  const sum = Math.max(...binaries) + scripts;
  console.log(
    `package, gzipped: WebAssembly ${binaries.map(kilobytes).join(" or ")}, JavaScript ${kilobytes(scripts)},` +
      ` together up to ${kilobytes(sum)} of ${kilobytes(budget)}; the pool ${kilobytes(pool)} more`,
  );
  return sum <= budget;
}

await runAsScript(import.meta.url, () => {
  if (!printSize()) throw new Failure("the package is over its size budget");
});
