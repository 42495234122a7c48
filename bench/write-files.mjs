// What the suite reads: the ONNX models and the peak's WebAssembly.

import { mkdirSync, writeFileSync } from "node:fs";
import { modelsOf } from "./onnx.mjs";
import { folder } from "./models.mjs";
import { assemble, binaries } from "./peak-binary.mjs";
import { makeInputs } from "./workloads.mjs";

export async function writeFiles(shapes) {
  const { randomNormal } = await import("../dist/index.js");
  mkdirSync(folder, { recursive: true });
  for (const [kind, path] of Object.entries(binaries)) writeFileSync(path, await assemble(kind));
  for (const shape of shapes.filter(({ alone }) => !alone)) {
    const models = modelsOf(shape, makeInputs(shape, randomNormal)).map(({ model, ...entry }, i) => {
      const file = `${shape.id}-${i}.onnx`;
      writeFileSync(`${folder}${file}`, model);
      return { ...entry, file };
    });
    writeFileSync(`${folder}${shape.id}.json`, JSON.stringify(models));
  }
}
