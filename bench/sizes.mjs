// What a browser downloads to attend: JavaScript, bundled, minified and shaken, and WebAssembly; gzipped.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const downloads = {
  softlookup: {
    code: `export { scaledDotProductAttention } from "../dist/index.js";`,
    binary: "../dist/softlookup.wasm",
  },
  "onnxruntime-web": {
    code: `export { InferenceSession, Tensor } from "onnxruntime-web/wasm";`,
    binary: "node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
  },
  "tfjs wasm": {
    code: `import "@tensorflow/tfjs-backend-wasm";
      export { matMul, setBackend, softmax, tensor } from "@tensorflow/tfjs-core";`,
    binary: "node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm",
  },
  "jax-js wasm": { code: `export { init, nn, numpy } from "@jax-js/jax";` },
};

const gzipped = (data) => gzipSync(data, { level: 9 }).length;

async function bundled(code) {
  const entry = here("entry.js");
  const build = await rolldown({
    input: entry,
    platform: "browser",
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
  });
  const { output } = await build.generate({ format: "es", minify: true });
  await build.close();
  return output.filter(({ type }) => type === "chunk").map((chunk) => chunk.code);
}

/** @returns bytes by name */
export async function sizes() {
  const bytes = {};
  for (const [name, { code, binary }] of Object.entries(downloads)) {
    const files = await bundled(code);
    if (binary) files.push(readFileSync(here(binary)));
    bytes[name] = files.reduce((sum, file) => sum + gzipped(file), 0);
  }
  return bytes;
}
