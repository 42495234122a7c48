import type { Term } from "./lesson.ts";
import { same, type Text } from "./text.ts";

/** A part of a formula that can be lit up: class t-… in the TeX below. */
export type FormulaTerm = Term | "max" | "exp" | "sum" | "past" | "future";

const scores = String.raw`\htmlClass{t-scores}{\Q\K^{\top}}`;
const ratio = String.raw`\dfrac{${scores}}{\htmlClass{t-scaled}{\sqrt{d_k}}}`;
const softmax = String.raw`\htmlClass{t-softmax}{\sym{softmax}{\operatorname{softmax}}}`;
const values = String.raw`\htmlClass{t-output}{\V}`;
const exponential = String.raw`e^{\,\sym{scores}{s_{ij}}-\sym{row-max}{m_i}}`;

/** The formulae that stand above the steps. */
export const formulae = {
  attention: String.raw`$\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}\right)${values}$`,
  masked: String.raw`$\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}+\htmlClass{t-mask}{\sym{mask}{M}}\right)${values}$`,
  maskedRow: String.raw`$\w=${softmax}\!\left(\sym{scores}{s}+\htmlClass{t-mask}{\sym{mask}{m}}\right)$`,
  wrongRow: String.raw`$\w=${softmax}(\sym{scores}{s})\odot\htmlClass{t-mask}{\text{keep}}$`,
  wrongOrder: String.raw`$\left(${softmax}\!\left(${ratio}\right)\odot\htmlClass{t-mask}{\text{keep}}\right)${values}$`,
  softmax: String.raw`$\w_{ij}=\dfrac{\htmlClass{t-exp}{${exponential}}}{\htmlClass{t-sum}{\sum_j ${exponential}}}\qquad \htmlClass{t-max}{\sym{row-max}{m_i}=\max_j\, \sym{scores}{s_{ij}}}$`,
  causality: String.raw`$\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{token}{x_{t+1}},\dots})=\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{replaced}{x'_{t+1}},\dots})\quad\htmlClass{t-past}{i\le \sym{cut}{t}}$`,
} as const;

export type FormulaId = keyof typeof formulae;

/** What a formula of the strip is called where it cannot be seen. */
export const termNames = {
  inputs: { zh: "查询、键、值", en: "queries, keys, values" },
  scores: { zh: "分数", en: "scores" },
  scaled: { zh: "缩放", en: "scaling" },
  output: { zh: "乘以值", en: "times the values" },
} as const satisfies Partial<Record<Term, Text>>;

/** The operations as the strip writes them. */
export const terms = {
  inputs: same(String.raw`$\Q,\,\K,\,\V$`),
  scores: same(String.raw`$\Q\K^{\top}$`),
  scaled: same(String.raw`$\div\sqrt{d_k}$`),
  mask: { zh: "+ 掩码", en: "+ mask" },
  softmax: same("softmax"),
  output: same(String.raw`$\times\,\V$`),
} as const satisfies Record<Term, Text>;
