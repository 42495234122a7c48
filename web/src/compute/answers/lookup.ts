import { masks, scaledDotProductAttention } from "softlookup";
import type { lookupQuestions } from "../../content/questions/lookup.ts";
import { defaults } from "../../state/inputs.ts";
import { indices } from "../figure.ts";
import { exampleOf } from "../formula.ts";
import { difference, largest } from "../layers.ts";
import { lookHard, lookSoft } from "../lookup.ts";
import type { Answers } from "./answer.ts";

/** How far an answer moves when the query steps over the place where keys 0 and 1 are level. */
function moveOf(look: (query: readonly number[]) => { output: Float32Array }): number {
  const [before, after] = [1.1995, 1.2005].map((first) => look([first, 0.4]).output);
  return largest(difference(before ?? [], after ?? []));
}

/** How far C's output moves when D's value is replaced. */
function moveOfC(causal: boolean): number {
  const [q, k] = exampleOf(defaults);
  const outputOf = (v: readonly number[]) =>
    scaledDotProductAttention(q, k, { data: v, shape: [4, 2] }, { causal }).output.data.slice(4, 6);
  return largest(difference(outputOf(defaults.v), outputOf(defaults.v.with(6, 9))));
}

export const lookupAnswers: Answers<typeof lookupQuestions> = {
  flat: () => {
    const weights = [...lookSoft(defaults.query, defaults, 100).weights];
    const [least, most] = [Math.min(...weights), Math.max(...weights)];
    return { answer: lookSoft(defaults.query, defaults, 1e6).weights[0] ?? NaN, values: { least, most } };
  },
  hair: () => {
    const hard = moveOf((query) => lookHard(query, defaults));
    const soft = moveOf((query) => lookSoft(query, defaults, 1));
    return { answer: hard === 0 ? "never" : hard > 0.5 ? "jump" : "little", values: { hard, soft } };
  },
  "c-sees": () => {
    const row = masks.causal(4).data.slice(8, 12);
    const count = indices(4).filter((key) => row[key] === 1).length;
    return { answer: count, values: { count } };
  },
  "without-mask": () => {
    const [open, masked] = [moveOfC(false), moveOfC(true)];
    return { answer: open > masked ? "moves" : "still", values: { open, masked } };
  },
};
