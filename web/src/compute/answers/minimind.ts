import { randomNormal, scaledDotProductAttention, type Tensor } from "softlookup";
import type { minimindQuestions } from "../../content/questions/minimind.ts";
import { defaults } from "../../state/inputs.ts";
import { block, withLayer } from "../layers.ts";
import { GroupedQueryAttention } from "softlookup";
import { indices, passes } from "../figure.ts";
import { labB } from "../labs.ts";
import { inputOf, sizesOf, walk, withAttention } from "../minimind.ts";
import { type Answers, onlyCell, sameBits } from "./answer.ts";

const { length, hidden } = sizesOf(defaults);

/** Rows of the output that change when one token does. */
function rowsMoved(token: number, causal: boolean): number[] {
  const x = inputOf(defaults);
  const changed: Tensor = { ...x, data: x.data.slice() };
  changed.data[token * hidden] = 9;
  const [before, after] = withAttention(sizesOf(defaults), (layer) => [
    layer.forward(x, { causal }).output.data,
    layer.forward(changed, { causal }).output.data,
  ]) as [Float32Array, Float32Array];
  return indices(length).filter((row) => !sameBits(block(before, hidden, row), block(after, hidden, row)));
}

export const minimindAnswers: Answers<typeof minimindQuestions> = {
  "rows-reached": () => {
    const rows = rowsMoved(1, true).length;
    return { answer: rows, values: { rows } };
  },
  "values-doubled": () => {
    const x = inputOf(defaults);
    const weights = (factor: number) =>
      withAttention(sizesOf(defaults), (layer, parameters) => {
        const value = parameters["v_proj.weight"];
        layer.loadStateDict({
          ...parameters,
          "v_proj.weight": { ...value, data: value.data.map((number) => factor * number) },
        });
        return passes(layer.trace(x)).weights;
      });
    const [once, twice] = [weights(1), weights(2)];
    const largest = (data: Float32Array) => Math.max(...data.subarray(length, 2 * length));
    const sharpness = largest(twice) > largest(once) ? "sharper" : "flatter";
    return { answer: sameBits(once, twice) ? "same" : sharpness };
  },
  blended: () => {
    const x = randomNormal([4, 4], 1);
    const { weights } = passes(scaledDotProductAttention.trace(x, x, x, { causal: true }));
    const seen = block(weights, 4, 2).filter((weight) => weight > 0).length;
    return { answer: seen, values: { seen } };
  },
  "what-is-cached": () => {
    const { pass } = walk(defaults);
    const stages = { projected: pass.xk, normed: pass.k_norm, turned: pass.k_rope, repeated: pass.xk_repeat };
    const [stage] = Object.entries(stages).find(([, data]) => sameBits(data, pass.past_k)) ?? ["none"];
    return { answer: stage };
  },
  "which-cell": () => {
    const only = (token: number) => indices(4).map((row) => [row === token ? 1 : 0]);
    return { answer: onlyCell(passes(scaledDotProductAttention.trace(only(3), only(1), only(0))).scores, 4) };
  },
  "next-token": () => ({ answer: rowsMoved(3, false).includes(2) ? "yes" : "no" }),
  "keys-instead": () => {
    const key = [...randomNormal([4], 1).data];
    const q = [[...randomNormal([4], 2).data]];
    const { weights } = passes(scaledDotProductAttention.trace(q, [key, key], [key, key]));
    const [first = NaN, second = NaN] = weights;
    return { answer: Object.is(first, second) ? "no" : "yes", values: { first, second } };
  },
  "home-width": () => {
    const zeros = (rows: number, cols: number) => ({
      data: new Float32Array(rows * cols),
      shape: [rows, cols],
    });
    const layer = new GroupedQueryAttention({ hiddenSize: 16, numHeads: 2, numKvHeads: 1, headDim: 32 });
    const { steps } = withLayer(layer, (made) => {
      made.loadStateDict({
        "q_proj.weight": zeros(64, 16),
        "k_proj.weight": zeros(32, 16),
        "v_proj.weight": zeros(32, 16),
        "o_proj.weight": zeros(16, 64),
      });
      return made.trace(zeros(1, 16));
    });
    const widthOf = (id: "merged" | "output") => steps.find((step) => step.id === id)?.shape.at(-1) ?? NaN;
    return { answer: widthOf("output"), values: { output: widthOf("output"), merged: widthOf("merged") } };
  },
  "lab-b": () => {
    const x = randomNormal([1, 2, labB.hidden], labB.seed);
    const [steps, headDim] = withAttention(labB, (layer) => [layer.trace(x).steps, layer.headDim] as const);
    const shapeOf = (id: "k_proj" | "xk_repeat") => steps.find((step) => step.id === id)?.shape ?? [];
    const width = shapeOf("k_proj").at(-1) ?? NaN;
    return { answer: width, values: { width, headDim, heads: shapeOf("xk_repeat")[2] ?? NaN } };
  },
};
