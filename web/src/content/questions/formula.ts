import type { Question } from "../question.ts";

export const formulaQuestions = [
  {
    id: "which-score",
    step: "inputs",
    kind: "cell",
    size: 4,
    ask: {
      zh: "$\\Q\\K^{\\top}$ 里，哪一格说的是 token 2 有多想看 token 1？",
      en: "Which cell of $\\Q\\K^{\\top}$ says how much token 2 wants to look at token 1?",
    },
    why: {
      zh: "行属于提问的一方，列属于被看的一方：$\\q_2\\cdot\\k_1$ 在第 2 行、第 1 列。把别的查询和键都清零，只有这一格还不是零。它的转置位置说的是反过来的事。",
      en: "The row is whose question it is, the column whom it is put to: $\\q_2\\cdot\\k_1$ stands in row 2, column 1. With every other query and key set to zero, this cell alone is not zero. Its mirror image says the reverse.",
    },
  },
  {
    id: "variance",
    step: "scores",
    kind: "number",
    tolerance: 0.5,
    ask: {
      zh: "$\\q$ 和 $\\k$ 各有 64 个独立的分量，均值 0，方差 1。$\\q\\cdot\\k$ 的方差是多少？",
      en: "$\\q$ and $\\k$ have 64 independent entries each, with mean 0 and variance 1. What is the variance of $\\q\\cdot\\k$?",
    },
    why: {
      zh: "每个乘积的方差是 1，独立的方差可以相加：共 {variance}，标准差 {deviation}。除以 $\\sqrt{d_k}$ 之后，方差回到 {scaled}。",
      en: "Each product has variance 1, and variances of independent terms add up: {variance} in all, a standard deviation of {deviation}. Divided by $\\sqrt{d_k}$ the variance is back at {scaled}.",
    },
  },
  {
    id: "unscaled",
    step: "scores",
    kind: "choice",
    ask: {
      zh: "$d_k=64$，却忘了除以 $\\sqrt{d_k}$。一行 16 个键的 softmax 会变成什么样？",
      en: "$d_k=64$, and the division by $\\sqrt{d_k}$ was forgotten. What becomes of a softmax over 16 keys?",
    },
    options: {
      even: { zh: "几乎均分", en: "Nearly even shares" },
      similar: { zh: "和有缩放时差不多", en: "Much the same as with the division" },
      single: { zh: "几乎全压在一个键上", en: "Nearly all of it on one key" },
    },
    why: {
      zh: "核心抽了 256 个随机的查询：最大的权重平均是 {unscaled}，有缩放时只有 {scaled}。softmax 饱和后，权重对分数几乎不再敏感，梯度接近零，也就学不动了。",
      en: "Over 256 random queries, the core finds a largest weight of {unscaled} on average, against {scaled} with the division. A saturated softmax hardly responds to its scores: the gradient is close to zero, and nothing is learned.",
    },
  },
  {
    id: "half-share",
    step: "row-max",
    kind: "number",
    tolerance: 0.01,
    ask: {
      zh: "一行只有两个键，第二个的分数比第一个低 $\\ln 2$。第二个键得到多大的权重？",
      en: "A row has two keys, and the second scores lower by $\\ln 2$. Which weight does the second get?",
    },
    why: {
      zh: "低 $\\ln 2$，份量就减半：两份对一份，合起来是 1，于是 {first} 对 {second}。",
      en: "Lower by $\\ln 2$ is half the share: two parts against one, together 1, so {first} against {second}.",
    },
  },
  {
    id: "values-only",
    step: "weights",
    kind: "choice",
    ask: {
      zh: "只改 $\\v_1$，$\\q$ 和 $\\k$ 都不动。什么会变？",
      en: "Only $\\v_1$ is changed; $\\q$ and $\\k$ stay. What changes?",
    },
    options: {
      weights: { zh: "只有权重", en: "The weights only" },
      output: { zh: "只有输出", en: "The output only" },
      both: { zh: "两者都变", en: "Both" },
    },
    why: {
      zh: "$\\Q$ 和 $\\K$ 决定看谁，$\\V$ 只提供拿到手的内容。所以乘的是 $\\V$ 而不是 $\\K$：键是用来被找到的，值才是要交出去的，两者可以学成不同的东西。",
      en: "$\\Q$ and $\\K$ decide who is looked at, $\\V$ only what is then handed over. That is why the weights multiply $\\V$ and not $\\K$: a key is for being found, a value for being passed on, and the two can be learned apart.",
    },
  },
  {
    id: "merged",
    step: "output",
    kind: "choice",
    ask: {
      zh: "$W^Q$、$W^K$、$W^V$ 合并成同一个矩阵，于是 $\\Q=\\K=\\V$。对任何输入，分数矩阵都会怎样？",
      en: "$W^Q$, $W^K$ and $W^V$ are merged into one, so that $\\Q=\\K=\\V$. What must then hold of the scores, whatever the input?",
    },
    options: {
      nothing: { zh: "没有什么特别，仍可以任意", en: "Nothing: they are as free as before" },
      diagonal: { zh: "只有对角线不为零", en: "Only the diagonal is not zero" },
      symmetric: { zh: "它是对称的", en: "They are symmetric" },
    },
    why: {
      zh: "$\\q_i\\cdot\\k_j$ 与 $\\q_j\\cdot\\k_i$ 成了同一个数：代词想看名词多少，名词就得想看代词多少。$\\K=\\V$ 又要求“凭什么被找到”和“交出什么”是一回事。三种身份合成一个，能表达的就少了一大截，所以三个矩阵分开学。",
      en: "$\\q_i\\cdot\\k_j$ and $\\q_j\\cdot\\k_i$ become one number: a noun would have to look at its pronoun as much as the pronoun looks at the noun. And $\\K=\\V$ makes what a token is found by the same as what it hands over. Three roles forced into one can express far less; that is why the three are learned apart.",
    },
  },
] as const satisfies readonly Question[];
