import { cost, linearAttention, masks, randomNormal, rowSums, scaledDotProductAttention } from "softlookup";
import type { costQuestions } from "../../content/questions/cost.ts";
import { difference, largest } from "../layers.ts";
import type { Answers } from "./answer.ts";

const table = (length: number) => cost.scoresMemory({ length, numHeads: 1, batch: 1, bytesPerElement: 2 });
const mebibytes = (bytes: number) => bytes / 2 ** 20;
const parameters = (modelDim: number) => cost.parameters({ modelDim, numHeads: 1 }).total;

/** How many cells a mask lets through. */
const visible = ({ data }: { data: Uint8Array }) =>
  rowSums({ data: Float32Array.from(data), shape: [1, data.length] }).data[0] ?? NaN;

export const costAnswers: Answers<typeof costQuestions> = {
  "matrix-2k": () => {
    const [small, large] = [table(2048), table(8192)];
    return {
      answer: mebibytes(small.bytes),
      values: { elements: small.elements, small: mebibytes(small.bytes), large: mebibytes(large.bytes) },
    };
  },
  wider: () => {
    const [before, after] = [parameters(512), parameters(1024)];
    const names: Readonly<Record<number, string>> = { 2: "two", 4: "four", 16: "sixteen" };
    return { answer: names[after / before] ?? "none", values: { before, after } };
  },
  crossing: () => {
    const { attentionShare } = cost.operations({ length: 512, modelDim: 1024 });
    const more = attentionShare > 0.5 ? "large" : "small";
    return { answer: attentionShare === 0.5 ? "half" : more, values: { share: attentionShare } };
  },
  "pairs-seen": () => {
    const window = visible(masks.window(10, 10, 4));
    const all = visible(masks.window(10, 10, { left: 10, right: 10 }));
    return { answer: window, values: { window, causal: visible(masks.causal(10)), all } };
  },
  "same-function": () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomNormal([6, 4], seed)) as [
      ReturnType<typeof randomNormal>,
      ReturnType<typeof randomNormal>,
      ReturnType<typeof randomNormal>,
    ];
    const apart = largest(
      difference(scaledDotProductAttention(q, k, v).output.data, linearAttention(q, k, v).output.data),
    );
    return { answer: apart > 1e-3 ? "other" : "same", values: { apart } };
  },
};
