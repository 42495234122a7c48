import { cost, masks, randomNormal, scaledDotProductAttention, type Tensor } from "softlookup";
import type { cacheQuestions } from "../../content/questions/cache.ts";
import { indices } from "../figure.ts";
import type { Answers } from "./answer.ts";

const ones = (bits: ArrayLike<number>, row: number, cols: number) =>
  indices(cols).filter((col) => bits[row * cols + col] === 1).length;

export const cacheAnswers: Answers<typeof cacheQuestions> = {
  "chunk-sees": () => {
    const [past, chunk] = [5, 3];
    const all = past + chunk;
    const mask = masks.causal(chunk, all, "bottom-right").data;
    const first = ones(mask, 0, all);
    const wrong = ones(masks.causal(chunk, all, "top-left").data, 0, all);
    return { answer: first, values: { first, last: ones(mask, chunk - 1, all), wrong } };
  },
  doubled: () => {
    const [short, long, modelDim] = [65536, 131072, 64];
    const [cached, cachedLong] = [short, long].map(
      (length) => cost.decodeOperations({ length, modelDim }).total,
    );
    const [anew, anewLong] = [short, long].map((length) => cost.operations({ length, modelDim }).total);
    const times = Math.round((cachedLong ?? NaN) / (cached ?? NaN));
    return {
      answer: { 1: "one", 2: "two", 4: "four" }[times] ?? "none",
      values: {
        short,
        long,
        cached: cached ?? NaN,
        cachedLong: cachedLong ?? NaN,
        anew: anew ?? NaN,
        anewLong: anewLong ?? NaN,
      },
    };
  },
  "what-is-kept": () => {
    const [length, dim] = [4, 2];
    const draw = (seed: number) => randomNormal([length, dim], seed);
    const inputs = { query: draw(1), key: draw(2), value: draw(3) };
    const lastRow = ({ query, key, value }: typeof inputs) =>
      scaledDotProductAttention(query, key, value, { causal: true }).output.data.slice(-dim);
    const whole = lastRow(inputs);
    /** All tokens but the last become others. */
    const replaced = ({ data, shape }: Tensor): Tensor => {
      const other = draw(4).data;
      other.set(data.subarray(-dim), (length - 1) * dim);
      return { data: other, shape };
    };
    const moved = (name: keyof typeof inputs) => {
      const row = lastRow({ ...inputs, [name]: replaced(inputs[name]) });
      return row.filter((number, index) => !Object.is(number, whole[index])).length;
    };
    const [query, key, value] = [moved("query"), moved("key"), moved("value")];
    return { answer: query === 0 && key > 0 && value > 0 ? "kv" : "qkv", values: { query, key, value } };
  },
};
