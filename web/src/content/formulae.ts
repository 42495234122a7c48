import type { Term } from "./lesson.ts";
import { same, type Text } from "./text.ts";

/** A part of a formula that can be lit up: class t-… in the TeX below. */
export type FormulaTerm = Term | "max" | "exp" | "sum" | "past" | "future";

const scores = String.raw`\htmlClass{t-scores}{\Q\K^{\top}}`;
const ratio = String.raw`\dfrac{${scores}}{\htmlClass{t-scaled}{\sqrt{d_k}}}`;
const softmax = String.raw`\htmlClass{t-softmax}{\operatorname{softmax}}`;
const values = String.raw`\htmlClass{t-output}{\V}`;
const exponential = String.raw`e^{\,s_{ij}-m_i}`;

/** The formulae that stand above the steps. */
export const formulae = {
  attention: String.raw`$\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}\right)${values}$`,
  masked: String.raw`$\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}+\htmlClass{t-mask}{M}\right)${values}$`,
  maskedRow: String.raw`$\w=${softmax}\!\left(s+\htmlClass{t-mask}{m}\right)$`,
  wrongRow: String.raw`$\w=${softmax}(s)\odot\htmlClass{t-mask}{\text{keep}}$`,
  wrongOrder: String.raw`$\left(${softmax}\!\left(${ratio}\right)\odot\htmlClass{t-mask}{\text{keep}}\right)${values}$`,
  softmax: String.raw`$\w_{ij}=\dfrac{\htmlClass{t-exp}{${exponential}}}{\htmlClass{t-sum}{\sum_j ${exponential}}}\qquad \htmlClass{t-max}{m_i=\max_j\, s_{ij}}$`,
  multiHead: String.raw`$\operatorname{MultiHead}(X)=\htmlClass{t-concat}{\operatorname{Concat}}\left(\htmlClass{t-attend}{\text{head}_0,\,\dots,\,\text{head}_{H-1}}\right)\htmlClass{t-mix}{W^O}$`,
  head: String.raw`$\text{head}_h=\htmlClass{t-attend}{\operatorname{Attention}}\left(\htmlClass{t-project}{X\,\htmlClass{query}{W^Q_h}},\,\htmlClass{t-project}{X\,\htmlClass{key}{W^K_h}},\,\htmlClass{t-project}{X\,\htmlClass{value}{W^V_h}}\right)\qquad W_h:\ d\times d_k$`,
  causality: String.raw`$o_i(x_0,\dots,x_t,\,\htmlClass{t-future}{x_{t+1},\dots})=o_i(x_0,\dots,x_t,\,\htmlClass{t-future}{x'_{t+1},\dots})\quad\htmlClass{t-past}{i\le t}$`,
} as const;

export type FormulaId = keyof typeof formulae;

/** What a formula of the strip is called where it cannot be seen. */
export const termNames = {
  inputs: { zh: "查询、键、值", en: "queries, keys, values" },
  scores: { zh: "分数", en: "scores" },
  scaled: { zh: "缩放", en: "scaling" },
  output: { zh: "乘以值", en: "times the values" },
  project: { zh: "投影", en: "projection" },
  mix: { zh: "输出投影", en: "output projection" },
} as const satisfies Partial<Record<Term, Text>>;

/** The operations as the strip writes them. */
export const terms = {
  inputs: same(String.raw`$\Q,\,\K,\,\V$`),
  scores: same(String.raw`$\Q\K^{\top}$`),
  scaled: same(String.raw`$\div\sqrt{d_k}$`),
  mask: { zh: "+ 掩码", en: "+ mask" },
  softmax: same("softmax"),
  output: same(String.raw`$\times\,\V$`),
  project: same(String.raw`$X\to\Q,\,\K,\,\V$`),
  split: { zh: "切头", en: "cut into heads" },
  attend: { zh: "每头各做注意力", en: "attention in each" },
  concat: { zh: "合头", en: "merge" },
  mix: same(String.raw`$\times\,W^O$`),
} as const satisfies Record<Term, Text>;
