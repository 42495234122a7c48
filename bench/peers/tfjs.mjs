import { isNode, root, urlOf } from "../environment.mjs";
import { causalBias, dimensions } from "../workloads.mjs";

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

/** Query heads that share keys become rows of one. `bias` only where something is masked. */
function attend(tf, { heads, kvHeads, queries, headDim }, { q, k, v, bias }) {
  const scores = tf.matMul(tf.reshape(q, [kvHeads, (queries * heads) / kvHeads, headDim]), k, false, true);
  const scaled = tf.mul(scores, 1 / Math.sqrt(headDim));
  return tf.matMul(tf.softmax(bias ? tf.add(scaled, bias) : scaled), v);
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
        if (shape.causal) tensors.bias = tf.tensor(causalBias(shape.queries), [shape.queries, shape.queries]);
        const compute = shape.kind === "layer" ? layer : attend;
        return {
          run: () => tf.tidy(() => compute(tf, shape, tensors).dataSync()),
          dispose: () => tf.dispose(tensors),
        };
      },
    },
  ];
}
