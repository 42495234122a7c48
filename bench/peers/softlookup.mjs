import { packageUrl, readBytes } from "../environment.mjs";
import { dimensions } from "../workloads.mjs";

/** How many tokens are decoded before the cache is brought back to its length. */
const chunk = 32;

function decoder({ KVCache, scaledDotProductAttention }, { kvHeads, keys, headDim }, { q, k, v }) {
  const cache = new KVCache({ batch: 1, numKvHeads: kvHeads, headDim, capacity: keys + chunk });
  const tokens = ({ data }, from, to) => {
    const part = new Float32Array(kvHeads * (to - from) * headDim);
    for (let h = 0; h < kvHeads; h++) {
      const head = h * keys;
      part.set(data.subarray((head + from) * headDim, (head + to) * headDim), h * (to - from) * headDim);
    }
    return { data: part, shape: [1, kvHeads, to - from, headDim] };
  };
  cache.append(tokens(k, 0, keys - 1), tokens(v, 0, keys - 1));
  const [query, key, value] = [
    { data: q.data, shape: [1, ...q.shape] },
    tokens(k, keys - 1, keys),
    tokens(v, keys - 1, keys),
  ];
  return {
    run: () => scaledDotProductAttention(query, key, value, { cache, causal: true }).output.data,
    reset: () => cache.dropOldest(cache.length - (keys - 1)),
    most: chunk,
    dispose: () => cache.dispose(),
  };
}

function layer({ MultiHeadAttention }, { heads, headDim }, { x, inWeight, inBias, outWeight, outBias }) {
  const attention = new MultiHeadAttention({ embedDim: heads * headDim, numHeads: heads });
  attention.loadStateDict({
    in_proj_weight: inWeight,
    in_proj_bias: inBias,
    "out_proj.weight": outWeight,
    "out_proj.bias": outBias,
  });
  return { run: () => attention.forward(x, x, x).output.data, dispose: () => attention.dispose() };
}

function attend({ scaledDotProductAttention }, { causal }, { q, k, v }, out) {
  const options = { causal, ...(out && { out }) };
  return { run: () => scaledDotProductAttention(q, k, v, options).output.data };
}

/** @param peer what the instance is called in the report */
const over = (instance, peer) => (shape, inputs) => {
  const dims = dimensions(shape);
  const tensors = Object.fromEntries(
    Object.entries(inputs).map(([name, data]) => [name, { data, shape: dims[name] }]),
  );
  const kind = shape.kind === "layer" ? layer : shape.decode ? decoder : attend;
  const candidates = [{ peer, open: () => kind(instance, shape, tensors) }];
  if (shape.out) {
    const out = new Float32Array(inputs.q.length);
    candidates.push({ peer, form: "with `out`", open: () => attend(instance, shape, tensors, out) });
  }
  return candidates;
};

/** The package as it is imported. */
export const load = async () => over(await import(packageUrl("index.js")), "softlookup");

/** The package with each of its binaries that was built and that this engine runs. */
export async function loadEach() {
  const { load } = await import(packageUrl("load.js"));
  const relaxed = await readBytes("dist/softlookup.relaxed.wasm");
  const choices = relaxed && WebAssembly.validate(relaxed) ? ["plain", "relaxed"] : ["plain"];
  return Promise.all(choices.map(async (simd) => over(await load({ simd }), `softlookup, ${simd}`)));
}
