import { isNode, root, urlOf } from "../environment.mjs";
import { dimensions } from "../workloads.mjs";

const folder = "bench/node_modules/@tensorflow/";
const binaries = new URL(`${folder}tfjs-backend-wasm/dist/`, root);

async function importTfjs() {
  if (isNode) {
    const tf = await import("@tensorflow/tfjs-core");
    const { setWasmPaths } = await import("@tensorflow/tfjs-backend-wasm");
    setWasmPaths(binaries.pathname);
    return tf;
  }
  // Its modules import Node's for a browser too; these files set a global name.
  await import(urlOf(`${folder}tfjs-core/dist/tf-core.min.js`));
  await import(urlOf(`${folder}tfjs-backend-wasm/dist/tf-backend-wasm.min.js`));
  globalThis.tf.wasm.setWasmPaths(binaries.href);
  return globalThis.tf;
}

/** Query heads that share keys become rows of one. */
function attend(tf, { heads, kvHeads, queries, headDim, causal }, { q, k, v }) {
  const scores = tf.matMul(tf.reshape(q, [kvHeads, (queries * heads) / kvHeads, headDim]), k, false, true);
  const scaled = tf.mul(scores, 1 / Math.sqrt(headDim));
  return tf.matMul(tf.softmax(causal ? tf.add(scaled, causal) : scaled), v);
}

function causalBias(tf, n) {
  const bias = new Float32Array(n * n);
  for (let i = 0; i < n; i++) bias.fill(-Infinity, i * n + i + 1, (i + 1) * n);
  return tf.tensor(bias, [n, n]);
}

function layer(tf, { heads, queries, headDim }, { x, inWeight, inBias, outWeight, outBias }) {
  const model = heads * headDim;
  const projected = tf.add(tf.matMul(x, inWeight, false, true), inBias);
  const [q, k, v] = tf
    .split(projected, 3, 1)
    .map((part) => tf.transpose(tf.reshape(part, [queries, heads, headDim]), [1, 0, 2]));
  const attended = attend(tf, { heads, kvHeads: heads, queries, headDim }, { q, k, v });
  const merged = tf.reshape(tf.transpose(attended, [1, 0, 2]), [queries, model]);
  return tf.add(tf.matMul(merged, outWeight, false, true), outBias);
}

export async function load() {
  const tf = await importTfjs();
  await tf.setBackend("wasm");
  await tf.ready();
  return (shape, inputs) => [
    {
      peer: "tfjs wasm",
      open: () => {
        const dims = dimensions(shape);
        const tensors = Object.fromEntries(
          Object.entries(inputs).map(([name, data]) => [name, tf.tensor(data, dims[name])]),
        );
        const bias = shape.causal && causalBias(tf, shape.queries);
        const compute = shape.kind === "layer" ? layer : attend;
        return {
          run: () => tf.tidy(() => compute(tf, { ...shape, causal: bias }, tensors).dataSync()),
          dispose: () => tf.dispose([...Object.values(tensors), ...(bias ? [bias] : [])]),
        };
      },
    },
  ];
}
