// What is computed. One batch row everywhere; float32 normal numbers; n = queries = keys unless said.

const attention = (id, title, shape) => ({
  id,
  title,
  kind: "attention",
  kvHeads: shape.heads,
  causal: false,
  ...shape,
});
const prefill = (id, title, { n, ...shape }) => attention(id, title, { queries: n, keys: n, ...shape });
const decode = (id, title, shape) => attention(id, title, { queries: 1, decode: true, ...shape });

/** `alone`: too large for the peers to be worth their time. `quick`: small enough for `--quick`. */
export const workloads = [
  prefill("full-1024", "n=1024 full", { n: 1024, heads: 8, headDim: 64, quick: true }),
  prefill("causal-1024", "n=1024 causal", { n: 1024, heads: 8, headDim: 64, causal: true, quick: true }),
  prefill("causal-2048", "n=2048 causal", { n: 2048, heads: 8, headDim: 64, causal: true }),
  prefill("full-512-128", "H=32, n=512, d=128 full", { n: 512, heads: 32, headDim: 128 }),
  decode("decode-4096", "decode, S=4096", { keys: 4096, heads: 8, headDim: 64, quick: true }),
  decode("gqa-decode-4096", "GQA decode, 32/8 heads, d=128, S=4096", {
    keys: 4096,
    heads: 32,
    kvHeads: 8,
    headDim: 128,
  }),
  decode("decode-65536", "decode, S=65536", { keys: 65536, heads: 8, headDim: 64, alone: true }),
  prefill("full-8192", "n=8192, H=1 full", { n: 8192, heads: 1, headDim: 64 }),
  {
    id: "layer-512",
    title: "whole MHA, d=512, H=8, n=512",
    kind: "layer",
    queries: 512,
    keys: 512,
    heads: 8,
    kvHeads: 8,
    headDim: 64,
    quick: true,
  },
  prefill("tokens-4", "a 4-token call", { n: 4, heads: 1, headDim: 2, quick: true, out: true }),
];

export const workload = (id) => workloads.find((one) => one.id === id);

/** A multiply and an add count as 2; masked scores and the softmax are left out. */
export function operations({ kind, heads, queries, keys, headDim, causal }) {
  const pairs = causal ? (queries * (queries + 1)) / 2 : queries * keys;
  const model = heads * headDim;
  return 4 * heads * pairs * headDim + (kind === "layer" ? 8 * queries * model * model : 0);
}

/** Bytes of keys and values, which a decode step must read. */
export const cacheBytes = ({ kvHeads, keys, headDim }) => 2 * 4 * kvHeads * keys * headDim;

/** The inputs' shapes. A layer's weights are laid out as in PyTorch. */
export function dimensions({ kind, heads, kvHeads, queries, keys, headDim }) {
  const model = heads * headDim;
  return kind === "layer"
    ? {
        x: [queries, model],
        inWeight: [3 * model, model],
        inBias: [3 * model],
        outWeight: [model, model],
        outBias: [model],
      }
    : { q: [heads, queries, headDim], k: [kvHeads, keys, headDim], v: [kvHeads, keys, headDim] };
}

/** For what does not depend on the numbers. */
export const anyInputs = (shape) =>
  Object.fromEntries(
    Object.entries(dimensions(shape)).map(([name, dims]) => [
      name,
      Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => i % 3),
    ]),
  );

/** @param randomNormal softlookup's */
export function makeInputs(shape, randomNormal) {
  const unit = 1 / Math.sqrt(shape.heads * shape.headDim); // weights keep what they project at unit scale
  return Object.fromEntries(
    Object.entries(dimensions(shape)).map(([name, dims], seed) => {
      const { data } = randomNormal(dims, seed);
      return [name, /Weight|Bias/.test(name) ? data.map((value) => value * unit) : data];
    }),
  );
}

/** [n, n]: what a library without a causal option adds to the scores. */
export function causalBias(n) {
  const bias = new Float32Array(n * n);
  for (let i = 0; i < n; i++) bias.fill(-Infinity, i * n + i + 1, (i + 1) * n);
  return bias;
}

/** [a, b, E] → [b, a, E]: between heads first and heads last. */
export function swapAxes(x, a, b) {
  const width = x.length / a / b;
  const y = new x.constructor(x.length);
  for (let i = 0; i < a; i++)
    for (let j = 0; j < b; j++)
      y.set(x.subarray((i * b + j) * width, (i * b + j + 1) * width), (j * a + i) * width);
  return y;
}
