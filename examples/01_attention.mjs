// softmax(Q Kᵀ / √d_k) V for four tokens with d_k = 2, one step after the other.

import { scaledDotProductAttention } from "softlookup";
import { goldenCase, input } from "./golden.mjs";
import { matrixText } from "./print.mjs";

const example = goldenCase("course", "toy_full");
const [Q, K, V] = ["Q", "K", "V"].map((name) => input(example, name));

const { steps } = scaledDotProductAttention.trace(Q, K, V);
const step = (id) => steps.find((candidate) => candidate.id === id).tensor;

for (const [title, tensor] of [
  ["Q", Q],
  ["K", K],
  ["V", V],
  ["1. scores = Q Kᵀ: how well each query matches each key", step("scores")],
  ["2. scaled = scores / √2: keeps softmax from saturating", step("scaled")],
  ["3. weights = softmax of each row: every row sums to 1", step("weights")],
  ["4. output = weights V: each row a mixture of the rows of V", step("output")],
]) {
  console.log(`${title}\n${matrixText(tensor)}\n`);
}
