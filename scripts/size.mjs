// The size of the package as a browser may download it: the binary and all JavaScript but what is for Node, gzipped.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Failure, root, runAsScript } from "./run.mjs";

const budget = 100_000;

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

/** Prints the sizes; whether they are within the budget. */
export function printSize() {
  const sizes = { ".wasm": 0, ".js": 0 };
  const forNode = ["cli.js", "binary.node.js"];
  for (const name of readdirSync(`${root}dist`).filter((file) => !forNode.includes(file))) {
    const extension = Object.keys(sizes).find((end) => name.endsWith(end));
    if (extension) sizes[extension] += gzipSync(readFileSync(`${root}dist/${name}`), { level: 9 }).length;
  }
  const sum = sizes[".wasm"] + sizes[".js"];
  console.log(
    `package, gzipped: WebAssembly ${kilobytes(sizes[".wasm"])} + JavaScript ${kilobytes(sizes[".js"])}` +
      ` = ${kilobytes(sum)} of ${kilobytes(budget)}`,
  );
  return sum <= budget;
}

await runAsScript(import.meta.url, () => {
  if (!printSize()) throw new Failure("the package is over its size budget");
});
