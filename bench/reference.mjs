// The expected numbers: the formulae in double precision, sharing nothing with the package.

import { swapAxes } from "./workloads.mjs";

/** At most so many query rows a head are compared, spread from the first to the last. */
const rowsCompared = 64;

/** @returns {Float64Array} [Hq, rows, E], the given query rows of each head */
export function attentionRows({ heads, kvHeads, queries, keys, headDim, causal }, { q, k, v }, rows) {
  const output = new Float64Array(heads * rows.length * headDim);
  const weights = new Float64Array(keys);
  const scale = 1 / Math.sqrt(headDim);
  for (let h = 0; h < heads; h++) {
    const past = Math.floor((h * kvHeads) / heads) * keys; // the first row of this head's keys
    rows.forEach((row, r) => {
      const visible = causal ? row + 1 : keys;
      const query = (h * queries + row) * headDim;
      let max = -Infinity;
      for (let j = 0; j < visible; j++) {
        const key = (past + j) * headDim;
        let score = 0;
        for (let e = 0; e < headDim; e++) score += q[query + e] * k[key + e];
        weights[j] = score * scale;
        max = Math.max(max, weights[j]);
      }
      let sum = 0;
      for (let j = 0; j < visible; j++) sum += weights[j] = Math.exp(weights[j] - max);
      const result = output.subarray((h * rows.length + r) * headDim, (h * rows.length + r + 1) * headDim);
      for (let j = 0; j < visible; j++) {
        const value = (past + j) * headDim;
        const weight = weights[j] / sum;
        for (let e = 0; e < headDim; e++) result[e] += weight * v[value + e];
      }
    });
  }
  return output;
}

/** y = x weightᵀ + bias, for weight rows [from, from + width). */
function linear(x, rows, width, weight, bias, from = 0) {
  const inner = x.length / rows;
  const y = new Float64Array(rows * width);
  for (let i = 0; i < rows; i++) {
    for (let o = 0; o < width; o++) {
      let sum = bias[from + o];
      for (let e = 0; e < inner; e++) sum += x[i * inner + e] * weight[(from + o) * inner + e];
      y[i * width + o] = sum;
    }
  }
  return y;
}

function layerRows(shape, { x, inWeight, inBias, outWeight, outBias }, rows) {
  const { heads, queries, headDim } = shape;
  const model = heads * headDim;
  const [q, k, v] = [0, 1, 2].map((part) =>
    swapAxes(linear(x, queries, model, inWeight, inBias, part * model), queries, heads),
  );
  const attended = attentionRows(shape, { q, k, v }, rows);
  const merged = swapAxes(attended, heads, rows.length);
  return linear(merged, rows.length, model, outWeight, outBias);
}

/** @returns a function: the relative L2 error of a whole output, [Hq, L, E] or of a layer [L, D] */
export function referenceOf(shape, inputs) {
  const { kind, heads, queries, headDim } = shape;
  const count = Math.min(queries, rowsCompared);
  const rows = Array.from({ length: count }, (_, i) =>
    count === 1 ? 0 : Math.round((i * (queries - 1)) / (count - 1)),
  );
  const layer = kind === "layer";
  const expected = (layer ? layerRows : attentionRows)(shape, inputs, rows);
  const [blocks, width] = layer ? [1, heads * headDim] : [heads, headDim];
  return (output) => {
    if (output.length !== blocks * queries * width) return Infinity;
    let difference = 0;
    let norm = 0;
    expected.forEach((value, i) => {
      const [block, r] = [Math.floor(i / width / count), Math.floor(i / width) % count];
      const actual = output[(block * queries + rows[r]) * width + (i % width)];
      difference += (actual - value) ** 2;
      norm += value ** 2;
    });
    return Math.sqrt(difference / norm);
  };
}
