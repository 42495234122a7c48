import type { Term } from "./lesson.ts";

/** A part of a formula that can be lit up: class t-… in the TeX below. */
export type FormulaTerm = Term | "max" | "exp" | "sum" | "past" | "future" | "temperature";

const scores = String.raw`\htmlClass{t-scores}{\Q\K^{\top}}`;
const ratio = String.raw`\dfrac{${scores}}{\htmlClass{t-scaled}{\sqrt{d_k}}}`;
const softmax = String.raw`\htmlClass{t-softmax}{\sym{softmax}{\operatorname{softmax}}}`;
const values = String.raw`\htmlClass{t-output}{\V}`;
const projected = (role: string, letter: string) =>
  String.raw`\htmlClass{t-project}{\sym{token}{X}\,\htmlClass{${role}}{\sym{projection}{W^${letter}_h}}}`;
const compared = String.raw`\htmlClass{t-scores}{\q\cdot\k_j}`;
const exponential = String.raw`e^{\,\sym{scores}{s_{ij}}-\sym{row-max}{m_i}}`;
const softmaxOver = (index: string) =>
  String.raw`\operatorname*{\htmlClass{t-softmax}{\sym{softmax}{softmax}}}_${index}`;
const additiveScore = (query: string, key: string) =>
  String.raw`\sym{additive-attention}{v_a}^{\top}\tanh\!\left(\sym{additive-attention}{W}${query}+\sym{additive-attention}{U}${key}+\sym{bias}{b}\right)`;
const angle = String.raw`\sym{position}{p}\,\sym{frequency}{\omega_i}`;
const turn = (position: string, vector: string) =>
  String.raw`\sym{rope}{\operatorname{rot}}_{${position}}(${vector})`;
const features = (vector: string) => String.raw`\sym{linear-attention}{\phi}(${vector})`;
const visible = String.raw`\htmlClass{t-mask}{[\sym{mask}{M}=0]}`;

const written = {
  attention: String.raw`\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}\right)${values}`,
  masked: String.raw`\operatorname{Attention}(\Q,\K,\V)=${softmax}\!\left(${ratio}+\htmlClass{t-mask}{\sym{mask}{M}}\right)${values}`,
  maskedRow: String.raw`\w=${softmax}\!\left(\sym{scores}{s}+\htmlClass{t-mask}{\sym{mask}{M}}\right)`,
  wrongRow: String.raw`\w=${softmax}(\sym{scores}{s})\odot${visible}`,
  wrongOrder: String.raw`\left(${softmax}\!\left(${ratio}\right)\odot${visible}\right)${values}`,
  softmax: String.raw`\w_{ij}=\dfrac{\htmlClass{t-exp}{${exponential}}}{\htmlClass{t-sum}{\sym{row-sum}{\sum_j} ${exponential}}}\qquad \htmlClass{t-max}{\sym{row-max}{m_i}=\max_j\, \sym{scores}{s_{ij}}}`,
  multiHead: String.raw`\operatorname{MultiHead}(\sym{token}{X})=\htmlClass{t-concat}{\operatorname{Concat}}\left(\htmlClass{t-attend}{\text{head}_0,\,\dots,\,\text{head}_{\sym{head}{H}-1}}\right)\htmlClass{t-mix}{\sym{output-projection}{W^O}}`,
  operations: String.raw`\htmlClass{t-project}{8\,\sym{length}{n}\,\sym{model-dim}{d}^2}+\htmlClass{t-attend}{4\,\sym{length}{n}^2\sym{model-dim}{d}}`,
  scoresMemory: String.raw`\sym{batch}{B}\times\sym{head}{H}\times\sym{length}{n}\times\sym{length}{n}`,
  parameterCount: String.raw`4\,\sym{model-dim}{d}^2`,
  linear: String.raw`\sym{output}{o_i}=\dfrac{${features("\\q_i")}^{\top}\sum_{j\le i}${features("\\k_j")}\,\v_j^{\top}}{${features("\\q_i")}\cdot\sum_{j\le i}${features("\\k_j")}}\qquad${features("a")}=\operatorname{elu}(a)+1`,
  rmsNorm: String.raw`\operatorname{RMSNorm}(\q)=\dfrac{\q}{\sqrt{\tfrac1{d_k}\sum_e \q_e^{\,2}+\sym{rms-norm}{\varepsilon}}}\odot \sym{rms-norm}{g}`,
  rope: String.raw`${turn(String.raw`\sym{position}{p}`, String.raw`a,\,b`)}=(a\cos ${angle}-\nobreak b\sin ${angle},\;\;\allowbreak b\cos ${angle}+\nobreak a\sin ${angle})\qquad\sym{frequency}{\omega_i}=\sym{frequency}{\theta}^{-2i/d_k}`,
  relative: String.raw`${turn("i", "\\q")}\cdot${turn("j", "\\k")}=\q\cdot${turn("j-i", "\\k")}`,
  head: String.raw`\text{head}_h=\htmlClass{t-attend}{\operatorname{Attention}}\left(${projected("query", "Q")},\,${projected("key", "K")},\,${projected("value", "V")}\right)\allowbreak{}\qquad \sym{projection}{W_h}:\nobreak\ \sym{model-dim}{d}\times\nobreak d_k`,
  hardLookup: String.raw`\sym{output}{o}=\htmlClass{t-output}{\v_{j^*}}\qquad j^*=\htmlClass{t-softmax}{\arg\max_j}\;${compared}`,
  softLookup: String.raw`\sym{output}{o}=\sum_j\w_j\,\htmlClass{t-output}{\v_j}\qquad\w_j=${softmaxOver("j")}\left(\dfrac{${compared}}{\htmlClass{t-temperature}{\sym{temperature}{T}}}\right)`,
  additive: String.raw`\htmlClass{t-scores}{\sym{scores}{s_j}}=${additiveScore("\\q", "\\k_j")}`,
  fixedContext: String.raw`\htmlClass{t-output}{\sym{context}{c_t}=\sym{hidden-state}{h_2}}\qquad t=0,\dots,4`,
  context: String.raw`\sym{context}{c_t}=\sum_i\w_{ti}\,\htmlClass{t-output}{\sym{hidden-state}{h_i}}`,
  contextWeights: String.raw`\w_{ti}=${softmaxOver("i")}\left(\htmlClass{t-scores}{${additiveScore(String.raw`\sym{decoder-state}{z_t}`, String.raw`\sym{hidden-state}{h_i}`)}}\right)`,
  oneToken: String.raw`\sym{output}{o_C}=\sum_{j}\w_{Cj}\,\htmlClass{t-output}{\v_j}\qquad\w_{Cj}=${softmaxOver("j")}\left(\htmlClass{t-scores}{\dfrac{\q_C\cdot\k_j}{\sqrt{d_k}}}+\htmlClass{t-mask}{\sym{mask}{M_{Cj}}}\right)`,
  variance: String.raw`\operatorname{Var}\bigl(\htmlClass{t-scores}{\q\cdot\k}\bigr)=\sum_{e}\operatorname{Var}(\q_e\k_e)=d_k\qquad\operatorname{Var}\left(\htmlClass{t-scaled}{\dfrac{\q\cdot\k}{\sqrt{d_k}}}\right)=1`,
  difference: String.raw`\htmlClass{t-scores}{\sym{scores}{S}}=\Q\K^{\top}=\sym{token}{X}\,\sym{projection}{W^Q}(\sym{projection}{W^K})^{\top}\sym{token}{X}^{\top}`,
  decode: String.raw`\sym{output}{o_t}=${softmax}\!\left(\dfrac{\htmlClass{t-scores}{\q_t\,\K_{0\dots t}^{\top}}}{\sqrt{d_k}}\right)\htmlClass{t-output}{\V_{0\dots t}}`,
  cacheMemory: String.raw`2\,\sym{layer}{N}\,\sym{gqa}{H_{kv}}\,d_k\,\sym{length}{n}\,\sym{batch}{B}\,\sym{bytes}{b}`,
  causality: String.raw`\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{token}{x_{t+1}},\dots})=\sym{output}{o_i}(\sym{token}{x_0},\dots,\sym{token}{x_t},\,\htmlClass{t-future}{\sym{replaced}{r_{t+1}},\dots})\quad\htmlClass{t-past}{i\le \sym{cut}{t}}`,
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
