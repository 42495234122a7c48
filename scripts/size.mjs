// The size of the package as a browser may download it, gzipped: what importing `softlookup` takes, and the whole with
// every entry. Of the two binaries a browser takes one. The pool, which only those download who import it, is counted
// apart.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Failure, root, runAsScript } from "./run.mjs";

const budgets = { main: 83_000, whole: 85_000 };

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;

const forNode = ["cli.js", "binary.node.js", "worker.node.js"];

const read = (name) => readFileSync(`${root}dist/${name}`);
const total = (names) => names.reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);

/** A script and those that it imports, as a browser resolves them. */
function importedBy(name, found = new Set()) {
  found.add(name);
  const code = read(name).toString();
  for (const [, beside, chosen] of code.matchAll(/(?:from|import)\s*["'](?:\.\/([\w.-]+)|#(\w+))["']/g)) {
    const imported = beside ?? `${chosen}.browser.js`;
    if (!found.has(imported)) importedBy(imported, found);
  }
  return [...found];
}

/** Prints the sizes; whether they are within the budget. */
export function printSize() {
  const names = readdirSync(`${root}dist`).filter((file) => !forNode.includes(file));
  const binaries = names.filter((name) => name.endsWith(".wasm")).map((name) => total([name]));
  const pool = names.filter((name) => /^(pool|worker).*\.js$/.test(name));
  const scripts = {
    main: importedBy("index.js"),
    whole: names.filter((name) => name.endsWith(".js") && !pool.includes(name)),
  };
  console.log(`gzipped: WebAssembly ${binaries.map(kilobytes).join(" or ")}`);
  const within = Object.entries(budgets).map(([part, budget]) => {
    const size = total(scripts[part]);
    const sum = Math.max(...binaries) + size;
    console.log(
      `${part}: JavaScript ${kilobytes(size)}, together up to ${kilobytes(sum)} of ${kilobytes(budget)}`,
    );
    return sum <= budget;
  });
  console.log(`the pool: ${kilobytes(total(pool))} more`);
  return within.every(Boolean);
}

await runAsScript(import.meta.url, () => {
  if (!printSize()) throw new Failure("the package is over its size budget");
});
