import { dotProductMoments, randomNormal, rowEntropies, scaledDotProductAttention } from "softlookup";
import type { scaleQuestions } from "../../content/questions/scale.ts";
import { indices, passes, transposed } from "../figure.ts";
import { difference, largest } from "../layers.ts";
import type { Answers } from "./answer.ts";

export const scaleAnswers: Answers<typeof scaleQuestions> = {
  deviation: () => {
    const { variance, standardDeviation: deviation } = dotProductMoments(1024, 1);
    return { answer: deviation, values: { variance, deviation } };
  },
  "even-entropy": () => {
    const single = indices(16).map((index) => Number(index === 0));
    const [one = NaN, even = NaN] = rowEntropies([single, indices(16).map(() => 1 / 16)]).data;
    return { answer: even, values: { even, single: one } };
  },
  "shared-weights": () => {
    const x = randomNormal([4, 3], 3);
    const pass = passes(scaledDotProductAttention.trace(x, x, x));
    const skew = (data: ArrayLike<number>) => largest(difference(data, transposed(data, 4, 4)));
    const [scores, weights] = [skew(pass.scores), skew(pass.weights)];
    return { answer: weights > 0 ? "lopsided" : "symmetric", values: { scores, weights } };
  },
};
