import type { Term } from "./lesson.ts";

/** A part of a formula that can be lit up: class t-… in the TeX below. */
export type FormulaTerm = Term | "max" | "exp" | "sum" | "past" | "future" | "temperature";

const scores = String.raw`\htmlClass{t-scores}{\Q\K^{\top}}`;
const ratio = String.raw`\dfrac{${scores}}{\htmlClass{t-scaled}{\sqrt{d_k}}}`;
const softmax = String.raw`\htmlClass{t-softmax}{\sym{softmax}{\operatorname{softmax}}}`;
const values = String.raw`\htmlClass{t-output}{\V}`;
const compared = String.raw`\htmlClass{t-scores}{\q\cdot\k_j}`;
const exponential = String.raw`e^{\,\sym{scores}{s_{ij}}-\sym{row-max}{m_i}}`;

const written = {
  attention: String.raw`\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}\right)${values}`,
  masked: String.raw`\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}+\htmlClass{t-mask}{\sym{mask}{M}}\right)${values}`,
  maskedRow: String.raw`\w=${softmax}\!\left(\sym{scores}{s}+\htmlClass{t-mask}{\sym{mask}{m}}\right)`,
  wrongRow: String.raw`\w=${softmax}(\sym{scores}{s})\odot\htmlClass{t-mask}{\text{keep}}`,
  wrongOrder: String.raw`\left(${softmax}\!\left(${ratio}\right)\odot\htmlClass{t-mask}{\text{keep}}\right)${values}`,
  softmax: String.raw`\w_{ij}=\dfrac{\htmlClass{t-exp}{${exponential}}}{\htmlClass{t-sum}{\sum_j ${exponential}}}\qquad \htmlClass{t-max}{\sym{row-max}{m_i}=\max_j\, \sym{scores}{s_{ij}}}`,
  multiHead: String.raw`\operatorname{MultiHead}(\sym{token}{X})=\htmlClass{t-concat}{\operatorname{Concat}}\left(\htmlClass{t-attend}{\text{head}_0,\,\dots,\,\text{head}_{\sym{head}{H}-1}}\right)\htmlClass{t-mix}{\sym{output-projection}{W^O}}`,
  operations: String.raw`\htmlClass{t-project}{8\,\sym{length}{n}\,\sym{model-dim}{d}^2}+\htmlClass{t-attend}{4\,\sym{length}{n}^2\sym{model-dim}{d}}`,
  scoresMemory: String.raw`\sym{batch}{B}\times\sym{head}{H}\times\sym{length}{n}\times\sym{length}{n}`,
  parameterCount: String.raw`4\,\sym{model-dim}{d}^2`,
  linear: String.raw`o_i=\dfrac{\phi(\q_i)^{\top}\sum_{j\le i}\phi(\k_j)\,\v_j^{\top}}{\phi(\q_i)\cdot\sum_{j\le i}\phi(\k_j)}\qquad\phi(x)=\operatorname{elu}(x)+1`,
  rmsNorm: String.raw`\operatorname{RMSNorm}(\q)=\dfrac{\q}{\sqrt{\tfrac1E\sum_e \q_e^{\,2}+\varepsilon}}\odot g`,
  rope: String.raw`(a,\,b)\;\allowbreak\mapsto\nobreak\;(a\cos p\,\omega_i-\nobreak b\sin p\,\omega_i,\;\;\allowbreak b\cos p\,\omega_i+\nobreak a\sin p\,\omega_i)\qquad\omega_i=\theta^{-2i/\sym{head-dim}{E}}`,
  relative: String.raw`\operatorname{rot}_i(\q)\cdot\operatorname{rot}_j(\k)=\q\cdot\operatorname{rot}_{j-i}(\k)`,
  head: String.raw`\text{head}_h=\htmlClass{t-attend}{\operatorname{Attention}}\left(\htmlClass{t-project}{X\,\htmlClass{query}{W^Q_h}},\,\htmlClass{t-project}{X\,\htmlClass{key}{W^K_h}},\,\htmlClass{t-project}{X\,\htmlClass{value}{W^V_h}}\right)\allowbreak{}\qquad W_h:\nobreak\ d\times\nobreak d_k`,
  hardLookup: String.raw`\sym{output}{o}=\htmlClass{t-output}{\v_{j^*}}\qquad j^*=\htmlClass{t-softmax}{\arg\max_j}\;${compared}`,
  softLookup: String.raw`\sym{output}{o}=\sum_j\w_j\,\htmlClass{t-output}{\v_j}\qquad\w_j=\operatorname*{\htmlClass{t-softmax}{softmax}}_j\left(\dfrac{${compared}}{\htmlClass{t-temperature}{\sym{temperature}{T}}}\right)`,
  additive: String.raw`\htmlClass{t-scores}{\sym{scores}{s_j}}=v_a^{\top}\tanh\!\left(W\q+U\k_j+b\right)`,
  fixedContext: String.raw`\htmlClass{t-output}{c_t=\sym{hidden-state}{h_2}}\qquad t=0,\dots,4`,
  context: String.raw`c_t=\sum_i\w_{ti}\,\htmlClass{t-output}{\sym{hidden-state}{h_i}}`,
  contextWeights: String.raw`\w_{ti}=\operatorname*{\htmlClass{t-softmax}{softmax}}_i\left(\htmlClass{t-scores}{v_a^{\top}\tanh(Ws_t+Uh_i+b)}\right)`,
  oneToken: String.raw`\sym{output}{o_C}=\sum_{j}\w_{Cj}\,\htmlClass{t-output}{\v_j}\qquad\w_{C}=\operatorname{softmax}\!\left(\htmlClass{t-scores}{\dfrac{\q_C\cdot\k_j}{\sqrt{d_k}}}+\htmlClass{t-mask}{\sym{mask}{m_j}}\right)`,
  variance: String.raw`\operatorname{Var}\bigl(\htmlClass{t-scores}{\q\cdot\k}\bigr)=\sum_{e}\operatorname{Var}(q_e k_e)=d_k\qquad\operatorname{Var}\left(\htmlClass{t-scaled}{\dfrac{\q\cdot\k}{\sqrt{d_k}}}\right)=1`,
  difference: String.raw`\htmlClass{t-scores}{\sym{scores}{S}}=\Q\K^{\top}=\sym{token}{X}\,W^Q\,{W^K}^{\top}X^{\top}`,
  decode: String.raw`\sym{output}{o_t}=\htmlClass{t-softmax}{\operatorname{softmax}}\!\left(\dfrac{\htmlClass{t-scores}{\q_t\,\K_{0\dots t}^{\top}}}{\sqrt{d_k}}\right)\htmlClass{t-output}{\V_{0\dots t}}`,
  cacheMemory: String.raw`2\,N\,\sym{head}{H_{kv}}\,d_k\,\sym{length}{n}\,\sym{batch}{B}\,b`,
  causality: String.raw`\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{token}{x_{t+1}},\dots})=\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{replaced}{x'_{t+1}},\dots})\quad\htmlClass{t-past}{i\le \sym{cut}{t}}`,
} as const;

export type FormulaId = keyof typeof written;

/**
 * Where the screen is narrow a line ends between two statements, or within the first of them before an equals
 * sign; never after one.
 */
function breakable(tex: string): string {
  const [first = "", ...others] = tex.replaceAll("=", String.raw`=\nobreak `).split(String.raw`\qquad`);
  return [first.replaceAll("=", String.raw`\allowbreak=`), ...others].join(String.raw`\qquad\allowbreak `);
}

/** The formulae that stand above the steps. Rendered while building; the page knows them by their ids. */
export const formulae = Object.fromEntries(
  Object.entries(written).map(([id, tex]) => [id, breakable(tex)]),
) as Readonly<Record<FormulaId, string>>;
