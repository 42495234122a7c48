// The ONNX models that lie in files, for both environments.

import { readBytes, readJson } from "./environment.mjs";

export const folder = "build/bench/models/";

/** @returns [{ form, inputs, model: Uint8Array }], as modelsOf made them */
export async function readModels(id) {
  const entries = await readJson(`${folder}${id}.json`);
  return Promise.all(
    entries.map(async ({ form, inputs, file }) => ({
      form,
      inputs,
      model: await readBytes(`${folder}${file}`),
    })),
  );
}
