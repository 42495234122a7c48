import { dotProductMoments, moments, randomNormal, scaledDotProductAttention, softmax } from "softlookup";
import type { formulaQuestions } from "../../content/questions/formula.ts";
import { defaults } from "../../state/inputs.ts";
import { passes, transposed } from "../figure.ts";
import { exampleOf } from "../formula.ts";
import { type Answers, onlyCell, sameBits } from "./answer.ts";

/** The largest weight of a row, averaged over random rows. */
function largestWeight(options: { scale?: number }): number {
  const [q, k] = [randomNormal([256, 64], 1), randomNormal([16, 64], 2)];
  const { weights } = passes(scaledDotProductAttention.trace(q, k, k, options));
  const { rowMax } = passes(softmax.trace({ data: weights, shape: [256, 16] }));
  return moments(rowMax).mean;
}

function attend(v: readonly number[]) {
  const [q, k] = exampleOf(defaults);
  return passes(scaledDotProductAttention.trace(q, k, { data: v, shape: [4, 2] }));
}

export const formulaAnswers: Answers<typeof formulaQuestions> = {
  "which-score": () => {
    const only = (token: number) => [0, 1, 2, 3].map((row) => [row === token ? 1 : 0]);
    return { answer: onlyCell(passes(scaledDotProductAttention.trace(only(2), only(1), only(0))).scores, 4) };
  },
  variance: () => {
    const { variance, standardDeviation, varianceScaled } = dotProductMoments(64, 1);
    return { answer: variance, values: { variance, deviation: standardDeviation, scaled: varianceScaled } };
  },
  unscaled: () => {
    const [scaled, unscaled] = [largestWeight({}), largestWeight({ scale: 1 })];
    const single = unscaled > 0.8 ? "single" : "similar";
    return { answer: unscaled < scaled ? "even" : single, values: { scaled, unscaled } };
  },
  "half-share": () => {
    const [first = NaN, second = NaN] = softmax([0, -Math.LN2]).data;
    return { answer: second, values: { first, second } };
  },
  "values-only": () => {
    const [before, after] = [attend(defaults.v), attend(defaults.v.with(2, 9))];
    const weights = sameBits(before.weights, after.weights) ? [] : ["weights"];
    const output = sameBits(before.output, after.output) ? [] : ["output"];
    const [first = "none", second] = [...weights, ...output];
    return { answer: second === undefined ? first : "both" };
  },
  merged: () => {
    const x = randomNormal([4, 3], 3);
    const { scores } = passes(scaledDotProductAttention.trace(x, x, x));
    return { answer: sameBits(scores, transposed(scores, 4, 4)) ? "symmetric" : "nothing" };
  },
};
