import { faultyAttention, masks, rowSums, softmax } from "softlookup";
import type { masksQuestions } from "../../content/questions/masks.ts";
import { defaults } from "../../state/inputs.ts";
import { indices, passes } from "../figure.ts";
import { maskOf } from "../mask-grids.ts";
import { type Answers, onlyCell, sameBits } from "./answer.ts";

const row = (scores: readonly number[]) => ({ data: scores, shape: [1, scores.length] });
const mask = maskOf(defaults.keep, [1, defaults.keep.length]);

export const masksAnswers: Answers<typeof masksQuestions> = {
  raised: () => {
    const before = softmax(row(defaults.scores), { mask }).data;
    const after = softmax(row(defaults.scores.with(2, 1000)), { mask }).data;
    const [first = NaN, second = NaN] = after;
    const fall = first < (before[0] ?? NaN) && second < (before[1] ?? NaN) ? "fall" : "swap";
    return { answer: sameBits(before, after) ? "same" : fall, values: { first, second } };
  },
  generating: () => {
    const bits = masks.causal(1, 6, "bottom-right").data;
    const count = (bit: number) => bits.filter((other) => other === bit).length;
    return { answer: count(0), values: { visible: count(1), hidden: count(0) } };
  },
  "only-padding": () => {
    const causal = masks.causal(4);
    const both = masks.and(causal, masks.padding([3], 4)).data;
    return {
      answer: onlyCell(
        indices(16).map((index) => Number(causal.data[index] !== both[index])),
        4,
      ),
    };
  },
  after: () => {
    const total = (weights: ArrayLike<number>) => rowSums(row(Array.from(weights))).data[0] ?? NaN;
    const late = faultyAttention.softmaxThenMask(row(defaults.scores), { mask });
    const sum = total(passes(late).weights);
    const right = total(softmax(row(defaults.scores), { mask }).data);
    return { answer: sum < right ? "less" : sum > right ? "more" : "one", values: { sum, right } };
  },
};
