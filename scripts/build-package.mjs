// The npm package: C++ → WebAssembly, TypeScript → JavaScript and types, all in dist/.

import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build, configure } from "./cmake.mjs";
import { generateErrorCodes } from "./error-codes.mjs";
import { bin, Failure, root, run } from "./run.mjs";
import { printSize } from "./size.mjs";
import { whenChanged } from "./stamp.mjs";

const wasm = "build/wasm-release/softlookup.wasm";
const glue = "build/wasm-release/softlookup.js";

export async function buildPackage() {
  generateErrorCodes();
  await configure("wasm-release", { tests: false });
  await build("wasm-release", "softlookup");
  const inputs = ["bindings/js", "tsconfig.json", "tsconfig.build.json", "package-lock.json", wasm, glue];
  await whenChanged("package", { inputs, outputs: ["dist/index.js", "dist/softlookup.wasm"] }, async () => {
    rmSync(`${root}dist`, { recursive: true, force: true });
    await run(bin("tsc"), ["--project", "tsconfig.build.json"]);
    copyFileSync(`${root}${glue}`, `${root}dist/softlookup.glue.js`);
    await minify();
    copyFileSync(`${root}bindings/js/softlookup.glue.d.ts`, `${root}dist/softlookup.glue.d.ts`);
    copyFileSync(`${root}${wasm}`, `${root}dist/softlookup.wasm`);
  });
  printSize();
}

/** The comments are for the types, which editors show; the JavaScript goes over the wire. */
async function minify() {
  const { minifySync } = await import("rolldown/utils"); // there once npm has run
  for (const name of readdirSync(`${root}dist`).filter((file) => file.endsWith(".js"))) {
    const path = `${root}dist/${name}`;
    const { code, errors } = minifySync(name, readFileSync(path, "utf8"), { module: true });
    if (errors.length > 0) throw new Failure(`${name} cannot be minified: ${errors[0].message}`);
    writeFileSync(path, code);
  }
}
