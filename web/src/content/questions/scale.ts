import type { Question } from "../question.ts";

export const scaleQuestions = [
  {
    id: "deviation",
    step: "draws",
    kind: "number",
    tolerance: 0.01,
    ask: {
      zh: "$d_k=1024$，各分量独立、方差为 1。$\\q\\cdot\\k$ 通常有多大？（它的标准差）",
      en: "$d_k=1024$, independent entries of variance 1. How large is $\\q\\cdot\\k$ as a rule? (Its standard deviation.)",
    },
    why: {
      zh: "1024 个方差为 1 的乘积相加，方差是 {variance}，标准差是它的平方根 {deviation}。除以 $\\sqrt{d_k}$，除掉的正是它。",
      en: "1024 products of variance 1 add up to a variance of {variance}; the standard deviation is its root, {deviation}. Dividing by $\\sqrt{d_k}$ takes away just that.",
    },
  },
  {
    id: "even-entropy",
    step: "variance",
    kind: "number",
    tolerance: 0.001,
    ask: {
      zh: "16 个键均分权重。这一行权重的熵是多少比特？",
      en: "16 keys share the weight evenly. How many bits of entropy has this row of weights?",
    },
    why: {
      zh: "要在 16 个同样可能的键里指出一个，得问 {even} 个是非题。全压在一个键上时一个也不用问：熵是 {single}。",
      en: "Pointing out one of 16 equally likely keys takes {even} yes-or-no questions. With all weight on one key it takes none: entropy {single}.",
    },
  },
  {
    id: "shared-weights",
    step: "entropy",
    kind: "choice",
    ask: {
      zh: "$W^Q=W^K$，分数矩阵 $S$ 因此对称。softmax 之后的权重矩阵呢？",
      en: "With $W^Q=W^K$ the scores $S$ are symmetric. What of the weights after the softmax?",
    },
    options: {
      symmetric: { zh: "也对称", en: "Symmetric too" },
      lopsided: { zh: "一般不对称", en: "Not symmetric in general" },
      diagonal: { zh: "成了对角矩阵", en: "They become diagonal" },
    },
    why: {
      zh: "每一行除以自己的行和，行和各不相同。核心试了一批随机的 token：$S-S^{\\top}$ 最大 {scores}，权重之差最大 {weights}。",
      en: "Every row is divided by a sum of its own, and the sums differ. On random tokens the core finds at most {scores} in $S-S^{\\top}$, and {weights} in the same difference of weights.",
    },
  },
] as const satisfies readonly Question[];
