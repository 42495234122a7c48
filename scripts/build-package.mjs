// The npm package: C++ → WebAssembly, TypeScript → JavaScript and types, all in dist/.

import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build, configure } from "./cmake.mjs";
import { generateErrorCodes } from "./error-codes.mjs";
import { bin, Failure, root, run } from "./run.mjs";
import { printSize } from "./size.mjs";
import { whenChanged } from "./stamp.mjs";

const wasm = "build/wasm-release/softlookup.wasm";
const glue = "build/wasm-release/softlookup.js";

/**
 * By the names of wasm-opt and of Binaryen. Exceptions are the youngest that cmake/wasm.cmake asks for; newer compilers
 * use what is older unasked.
 */
const wasmFeatures = {
  "exception-handling": "ExceptionHandling",
  simd: "SIMD128",
  "bulk-memory": "BulkMemory",
  "bulk-memory-opt": "BulkMemoryOpt",
  multivalue: "Multivalue",
  "mutable-globals": "MutableGlobals",
  "nontrapping-float-to-int": "NontrappingFPToInt",
  "sign-ext": "SignExt",
};

export async function buildPackage() {
  generateErrorCodes();
  await configure("wasm-release", { tests: false });
  await build("wasm-release", "softlookup");
  const scripts = ["build-package", "binaries", "relaxed", "in-step", "expressions"].map(
    (name) => `scripts/${name}.mjs`,
  );
  const settings = ["tsconfig.json", "tsconfig.build.json", "package-lock.json"];
  const inputs = ["bindings/js", ...scripts, ...settings, wasm, glue];
  await whenChanged(
    "package",
    { inputs, outputs: ["dist/index.js", "dist/softlookup.relaxed.wasm"] },
    async () => {
      rmSync(`${root}dist`, { recursive: true, force: true });
      await run(bin("tsc"), ["--project", "tsconfig.build.json"]);
      copyFileSync(`${root}${glue}`, `${root}dist/softlookup.glue.js`);
      await bundle();
      // The optimiser of Emscripten 3.1.6 is older and leaves a little.
      await run(bin("wasm-opt"), [
        "--generate-global-effects", // calls that have none go
        "-Oz",
        "--converge",
        "--reorder-functions", // by use, which compresses better
        ...Object.keys(wasmFeatures).map((feature) => `--enable-${feature}`),
        `${root}${wasm}`,
        "-o",
        `${root}dist/softlookup.wasm`,
      ]);
      await writeBinaries();
    },
  );
  printSize();
}

async function writeBinaries() {
  const { plainBinary, relaxedBinary } = await import("./binaries.mjs"); // there once npm has run
  const bytes = readFileSync(`${root}dist/softlookup.wasm`);
  const features = Object.values(wasmFeatures);
  writeFileSync(`${root}dist/softlookup.relaxed.wasm`, relaxedBinary(bytes, features));
  writeFileSync(`${root}dist/softlookup.wasm`, plainBinary(bytes, features));
}

const entries = ["index", "load", "pool", "pool-worker", "safetensors", "torch", "onnx", "cli"];

/** What package.json and each environment choose among stays a file of its own. */
const apart = /^(#binary|#worker|node:.*)$/;

/** One file for each entry, one for what they share; the types stay as they are. */
async function bundle() {
  const { rolldown } = await import("rolldown"); // there once npm has run
  const input = Object.fromEntries(entries.map((name) => [name, `${root}dist/${name}.js`]));
  const build = await rolldown({ input, external: apart });
  // Comlink is the pool's alone; the rest, which hardly any entry does without, is one file. The instance
  // that some share is made by importing it.
  const groups = [
    { name: "pool-shared", test: /\/comlink\// },
    { name: "shared", test: /^(?!.*\/instance\.js$)/, minShareCount: 2 },
  ];
  const { output } = await build.generate({
    format: "es",
    minify: true,
    chunkFileNames: "[name].js",
    codeSplitting: { groups },
  });
  await build.close();
  const { minifySync } = await import("rolldown/utils");
  for (const name of readdirSync(`${root}dist`).filter((file) => file.endsWith(".js"))) {
    const path = `${root}dist/${name}`;
    if (!/^(binary|worker)\./.test(name)) {
      rmSync(path);
      continue;
    }
    const { code, errors } = minifySync(name, readFileSync(path, "utf8"), { module: true });
    if (errors.length > 0) throw new Failure(`${name} cannot be minified: ${errors[0].message}`);
    writeFileSync(path, code);
  }
  for (const { fileName, code } of output) writeFileSync(`${root}dist/${fileName}`, code);
}
