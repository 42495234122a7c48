// What the suite reads: the ONNX models, the peak's WebAssembly, and the package bundled for a page.

import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { root } from "../scripts/run.mjs";
import { bundleFolder } from "./environment.mjs";
import { modelsOf } from "./onnx.mjs";
import { folder } from "./models.mjs";
import { assemble, binaries } from "./peak-binary.mjs";
import { makeInputs, workloads } from "./workloads.mjs";

async function writeBundle() {
  const dist = `${root}dist/`;
  const entries = ["index", "load", "pool", "pool-worker"].filter((name) => existsSync(`${dist}${name}.js`));
  const build = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, `${dist}${name}.js`])),
    platform: "browser",
  });
  await build.write({ format: "es", minify: true, dir: `${root}${bundleFolder}` });
  await build.close();
  for (const name of readdirSync(dist).filter((file) => file.endsWith(".wasm")))
    copyFileSync(`${dist}${name}`, `${root}${bundleFolder}${name}`);
}

export async function writeFiles() {
  const { randomNormal } = await import("../dist/index.js");
  await writeBundle();
  mkdirSync(folder, { recursive: true });
  for (const [kind, path] of Object.entries(binaries)) writeFileSync(path, await assemble(kind));
  for (const shape of workloads.filter(({ alone }) => !alone)) {
    const models = modelsOf(shape, makeInputs(shape, randomNormal)).map(({ model, ...entry }, i) => {
      const file = `${shape.id}-${i}.onnx`;
      writeFileSync(`${folder}${file}`, model);
      return { ...entry, file };
    });
    writeFileSync(`${folder}${shape.id}.json`, JSON.stringify(models));
  }
}
