import { urlOf } from "../environment.mjs";
import { dimensions, swapAxes } from "../workloads.mjs";

// A function takes its arguments' references; `ref` makes one more.

function attend({ nn }, { causal }, { q, k, v }) {
  return nn.dotProductAttention(q, k, v, { isCausal: causal });
}

function layer({ numpy: np, nn }, { heads, queries, headDim }, { x, inWeight, inBias, outWeight, outBias }) {
  const projected = np.matmul(x, np.matrixTranspose(inWeight)).add(inBias);
  const [q, k, v] = np.split(projected, 3, 1).map((part) => part.reshape([queries, heads, headDim]));
  const attended = nn.dotProductAttention(q, k, v).reshape([queries, heads * headDim]);
  return np.matmul(attended, np.matrixTranspose(outWeight)).add(outBias);
}

function arraysOf({ numpy: np }, shape, inputs) {
  const arrays = {};
  for (const [name, dims] of Object.entries(dimensions(shape))) {
    if (shape.kind === "layer") {
      arrays[name] = np.array(inputs[name], { shape: dims });
    } else {
      const [heads, length, headDim] = dims;
      arrays[name] = np.array(swapAxes(inputs[name], heads, length), { shape: [length, heads, headDim] });
    }
  }
  return arrays;
}

export async function load() {
  // It calls iterator helpers, which Node has from 22.
  if (!("Iterator" in globalThis)) await import("core-js/actual/iterator/index.js");
  const jax = await import(urlOf("bench/node_modules/@jax-js/jax/dist/index.js"));
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  return (shape, inputs) => [
    {
      peer: "jax-js wasm",
      headsLast: shape.kind === "attention",
      open: () => {
        const arrays = arraysOf(jax, shape, inputs);
        const compute = shape.kind === "layer" ? layer : attend;
        const compiled = jax.jit((references) => compute(jax, shape, references));
        const references = () =>
          Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.ref]));
        return {
          run: () => compiled(references()).data(),
          dispose: () => {
            compiled.dispose();
            for (const array of Object.values(arrays)) array.dispose();
          },
        };
      },
    },
  ];
}
