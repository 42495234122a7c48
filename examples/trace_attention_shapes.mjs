// The shapes of one attention layer as in MiniMind, its weights, and its output computed a second time by
// hand: node examples/trace_attention_shapes.mjs --hidden_size 96 --num_attention_heads 6 --num_key_value_heads 3

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { GroupedQueryAttention, randomNormal } from "softlookup";
import { matrixText, shapeText } from "./print.mjs";

const [batch, length] = [2, 5];
const theta = 1e6;
const eps = 1e-6;

/** Every option with its default. */
export const defaults = {
  hidden_size: "64",
  num_attention_heads: "4",
  num_key_value_heads: "2",
  seed: "1",
};

/** The lines to print. @throws AttentionError; TypeError for an unknown option */
export function traceAttentionShapes(args) {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, { type: "string", default: value }]),
  );
  const { values } = parseArgs({ args, options });
  const [hiddenSize, numHeads, numKvHeads, seed] = Object.keys(defaults).map((name) => Number(values[name]));

  const attention = new GroupedQueryAttention({
    hiddenSize,
    numHeads,
    numKvHeads,
    qkNorm: { eps },
    rope: { layout: "half", theta },
  });
  try {
    const { headDim } = attention;
    const state = randomState({ hiddenSize, numHeads, numKvHeads, headDim }, seed);
    attention.loadStateDict(state);
    const x = randomNormal([batch, length, hiddenSize], seed);
    const { steps } = attention.trace(x);
    const step = (id) => steps.find((candidate) => candidate.id === id).tensor;
    const weights = firstHead(step("weights"));
    const byHand = attendByHand(x.data, state, { hiddenSize, numHeads, numKvHeads, headDim });
    const difference = largestDifference(byHand, attention.forward(x, { fast: false }).output.data);

    return [
      `x.shape=${shapeText(x.shape)}`,
      `head_dim=${headDim}`,
      `q_proj(x).shape=${shapeText(step("q_proj").shape)}`,
      `k_proj(x).shape=${shapeText(step("k_proj").shape)}`,
      `v_proj(x).shape=${shapeText(step("v_proj").shape)}`,
      `xq.shape=${shapeText(step("xq").shape)}`,
      `xk after repeat shape=${shapeText(step("xk_repeat").shape)}`,
      `scores.shape=${shapeText(step("scores").shape)}`,
      "attention weights for batch 0, head 0 =",
      matrixText(weights),
      `future_attention_mass_for_batch0_head0=${futureMass(weights).toFixed(10)}`,
      `manual_vs_module_max_abs_diff=${difference.toFixed(12)}`,
    ];
  } finally {
    attention.dispose();
  }
}

/** Small random parameters, each tensor from a seed of its own. */
function randomState({ hiddenSize, numHeads, numKvHeads, headDim }, seed) {
  const random = (shape, nth, center, spread) => {
    const { data } = randomNormal(shape, seed + nth);
    return { data: data.map((number) => center + spread * number), shape };
  };
  const spread = 1 / Math.sqrt(hiddenSize);
  return {
    "q_proj.weight": random([numHeads * headDim, hiddenSize], 1, 0, spread),
    "k_proj.weight": random([numKvHeads * headDim, hiddenSize], 2, 0, spread),
    "v_proj.weight": random([numKvHeads * headDim, hiddenSize], 3, 0, spread),
    "o_proj.weight": random([hiddenSize, numHeads * headDim], 4, 0, spread),
    "q_norm.weight": random([headDim], 5, 1, 0.1),
    "k_norm.weight": random([headDim], 6, 1, 0.1),
  };
}

/** [n, n]: batch 0, head 0 of [B, H, n, n] */
function firstHead({ data, shape }) {
  const [rows, columns] = shape.slice(2);
  return { data: data.slice(0, rows * columns), shape: [rows, columns] };
}

/** What the rows give to later tokens: everything above the diagonal. */
function futureMass({ data, shape: [, columns] }) {
  return data.reduce((sum, weight, i) => (i % columns > Math.floor(i / columns) ? sum + weight : sum), 0);
}

function largestDifference(a, b) {
  return a.reduce((largest, number, i) => Math.max(largest, Math.abs(number - b[i])), 0);
}

// --- the same layer in plain JavaScript -----------------------------------------------------------
//
// Nothing of softlookup from here on. Every step is computed in double precision and stored as float32,
// as the module stores its own, so that nothing but a mistake can make a difference.

/** x [B·n, hidden] → [B·n, hidden] */
function attendByHand(x, state, { hiddenSize, numHeads, numKvHeads, headDim }) {
  const tensor = (name) => state[name].data;
  const q = turned(normed(linear(x, tensor("q_proj.weight"), hiddenSize), tensor("q_norm.weight")), numHeads);
  const k = turned(
    normed(linear(x, tensor("k_proj.weight"), hiddenSize), tensor("k_norm.weight")),
    numKvHeads,
  );
  const v = linear(x, tensor("v_proj.weight"), hiddenSize);

  const merged = new Float32Array(batch * length * numHeads * headDim);
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < numHeads; h++) {
      const kvHead = Math.floor(h / (numHeads / numKvHeads));
      const query = (i) => ((b * length + i) * numHeads + h) * headDim;
      const key = (j) => ((b * length + j) * numKvHeads + kvHead) * headDim;
      for (let i = 0; i < length; i++) {
        const visible = Array.from({ length: i + 1 }, (_, j) => j); // the causal mask
        const scores = visible.map((j) => {
          const dot = sum(headDim, (e) => q[query(i) + e] * k[key(j) + e]);
          return Math.fround(Math.fround(dot) * Math.fround(1 / Math.sqrt(headDim)));
        });
        const largest = Math.max(...scores);
        const exps = scores.map((score) => Math.fround(Math.exp(score - largest)));
        const total = Math.fround(sum(exps.length, (j) => exps[j]));
        const weights = exps.map((exp) => Math.fround(exp / total));
        for (let e = 0; e < headDim; e++) {
          merged[query(i) + e] = sum(weights.length, (j) => weights[j] * v[key(j) + e]);
        }
      }
    }
  }
  return linear(merged, tensor("o_proj.weight"), numHeads * headDim);
}

function sum(count, term) {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

/** x [rows, inner], weight [outer, inner] → x weightᵀ [rows, outer] */
function linear(x, weight, inner) {
  const outer = weight.length / inner;
  return Float32Array.from({ length: (x.length / inner) * outer }, (_, index) => {
    const [row, column] = [Math.floor(index / outer) * inner, (index % outer) * inner];
    return sum(inner, (i) => x[row + i] * weight[column + i]);
  });
}

/** RMSNorm of every head: x / √(mean(x²) + eps) · weight */
function normed(x, weight) {
  const width = weight.length;
  return x.map((number, index) => {
    const first = index - (index % width);
    const mean = sum(width, (i) => x[first + i] ** 2) / width;
    return (number / Math.sqrt(mean + eps)) * weight[index % width];
  });
}

/** RoPE of [B, n, heads, headDim]: features i and i + headDim / 2 turn by position · theta^(−2i / headDim). */
function turned(x, heads) {
  const width = x.length / (batch * length * heads);
  const half = width / 2;
  return x.map((number, index) => {
    const feature = index % width;
    const position = Math.floor(index / (heads * width)) % length;
    const angle = position * Math.exp(((-2 * (feature % half)) / width) * Math.log(theta));
    const partner = feature < half ? -x[index + half] : x[index - half];
    return number * Math.cos(angle) + partner * Math.sin(angle);
  });
}

// --------------------------------------------------------------------------------------------------

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(traceAttentionShapes(process.argv.slice(2)).join("\n"));
}
