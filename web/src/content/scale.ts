import type { Lesson } from "./lesson.ts";
import { scaleQuestions } from "./questions/scale.ts";
import { same, type Text } from "./text.ts";

const attention = (...lit: readonly ("inputs" | "scores" | "scaled" | "softmax")[]) =>
  ({ id: "attention", lit }) as const;
const variance = (...lit: readonly ("scores" | "scaled")[]) => ({ id: "variance", lit }) as const;

export const scale = {
  id: "scale",
  title: { zh: "为什么要缩放", en: "Why scale" },
  question: {
    zh: "分数为什么要除以头维的平方\u2060根，又为什么需要三个投影？",
    en: "Why divide by the root of the head dimension, and why three projections?",
  },
  lede: {
    zh: "公式里有两处看上去可有可无：一个除法，和三个几乎一样的矩阵。两处都可以拿掉试试。拿掉除法，向量一宽，softmax 就只认一个键；合并矩阵，分数就非对称不可，键和值也成了同一个东西。",
    en: "Two things in the formula look dispensable: a division, and three matrices much alike. Both can be taken away to see. Without the division, softmax over wide vectors knows a single key; with the matrices merged, scores have to be symmetric, and keys and values become one and the same.",
  },
  sources: [
    {
      text: {
        zh: "课程第 5 章 §2.3、自检与思考题 1",
        en: "The course’s chapter 5, §2.3, self-check, thought question 1",
      },
    },
    {
      text: { zh: "Vaswani 等 2017，§3.2.1 脚注 4", en: "Vaswani et al. 2017, §3.2.1, footnote 4" },
      url: "https://arxiv.org/abs/1706.03762",
    },
  ],
  parts: {
    spread: { zh: "点积散得多开", en: "How far dot products spread" },
    softmax: { zh: "softmax 饱和", en: "Softmax saturates" },
    tied: { zh: "共用投影", en: "Shared projections" },
  },
  steps: [
    {
      id: "draws",
      part: "spread",
      title: { zh: "越宽，散得越开", en: "The wider, the farther apart" },
      body: [
        {
          zh: "每一格是一次抽样：两个独立的随机向量，分量均值 0、方差 1，做一次点积。一行是一种宽度 $d_k$，从 1 到 256，各抽八次。往下走，数就越来越大：乘积越多，和就走得越远。",
          en: "Every cell is one draw: two independent random vectors, entries of mean 0 and variance 1, and their dot product. A row is one width $d_k$, from 1 to 256, with eight draws each. Going down, the numbers grow: the more products, the farther their sum wanders.",
        },
      ],
      task: {
        zh: "换一个种子：数全变了，散开的程度不变。",
        en: "Change the seed: all numbers change, how far they spread does not.",
      },
      formulae: [variance("scores")],
      strip: "plain",
      at: "scores",
    },
    {
      id: "variance",
      part: "spread",
      title: { zh: "方差就是头维", en: "The variance is the head dim" },
      body: [
        {
          zh: "每种宽度抽 4096 对，量出 $\\q\\cdot\\k$ 的方差，同理论并排。一个乘积 $\\q_e\\k_e$ 的方差是 1，独立的方差可以相加，所以共是 $d_k$。除以 $\\sqrt{d_k}$，方差就除以 $d_k$，不论多宽都回到 1。",
          en: "At each width 4096 pairs are drawn, the variance of $\\q\\cdot\\k$ is measured and set beside the theory. One product $\\q_e\\k_e$ has variance 1, and variances of independent terms add up, to $d_k$ in all. Division by $\\sqrt{d_k}$ divides the variance by $d_k$, and at any width it is back at 1.",
        },
      ],
      formulae: [variance("scores", "scaled")],
      strip: "plain",
      at: "scaled",
    },
    {
      id: "saturation",
      part: "softmax",
      title: { zh: "同一行分数，缩放与不缩放", en: "One row of scores, scaled and not" },
      body: [
        {
          zh: "一个随机查询对若干随机键。上面三行是照公式做的，下面三行忘了除以 $\\sqrt{d_k}$。熵用比特计：在 $n$ 个键之间均分是 $\\log_2 n$ 比特，全压在一个键上是 0。",
          en: "A random query and some random keys. The upper rows follow the formula; the lower ones forgot to divide by $\\sqrt{d_k}$. Entropy is in bits: an even split over $n$ keys has $\\log_2 n$, all weight on one key has 0.",
        },
      ],
      task: {
        zh: "把宽度从 1 推到 256，看下面那行的权重怎样只剩一个。",
        en: "Push the width from 1 to 256 and watch the lower weights shrink to a single one.",
      },
      formulae: [attention("scaled", "softmax")],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "entropy",
      part: "softmax",
      title: { zh: "平均起来也是这样", en: "It is so on average" },
      body: [
        {
          zh: "一行可能是碰巧。这里每种宽度取 256 个查询的平均。有缩放，曲线是平的：宽度不影响 softmax 有多尖。没有缩放，熵一路掉向 0，最大的权重升向 1。",
          en: "A single row may be chance, so here 256 queries are averaged at every width. With the scale the curves are level: width does not make softmax sharper. Without it the entropy falls towards 0 and the largest weight rises towards 1.",
        },
        {
          zh: "权重为 1 的那个键，分数再高一点或低一点，权重都不动：$\\partial\\w/\\partial s=\\w(1-\\w)$ 在 $\\w\\to1$ 和 $\\w\\to0$ 时都趋于零。没有梯度，就没有学习。",
          en: "A key with weight 1 keeps it whether its score is a little higher or lower: $\\partial\\w/\\partial s=\\w(1-\\w)$ goes to zero both for $\\w\\to1$ and for $\\w\\to0$. Without a gradient nothing is learned.",
        },
      ],
      formulae: [attention("scaled", "softmax")],
      strip: "plain",
      at: "softmax",
    },
    {
      id: "symmetric",
      part: "tied",
      title: { zh: "Q 与 K 共用：分数对称", en: "Q and K share: symmetric scores" },
      body: [
        {
          zh: "三个 token，各过自己的投影。$S-S^{\\top}$ 说的是：$i$ 想看 $j$ 的程度，比 $j$ 想看 $i$ 多多少。让 $\\Q$ 与 $\\K$ 共用一个矩阵，它就处处恰好为零：代词想看名词多少，名词就得想看代词多少。",
          en: "Three tokens, each through its projections. $S-S^{\\top}$ says how much more $i$ wants to look at $j$ than $j$ at $i$. Let $\\Q$ and $\\K$ share a matrix and it is exactly zero everywhere: a noun must want its pronoun as much as the pronoun wants the noun.",
        },
        {
          zh: "对角线还成了 $|\\q_i|^2$，不会为负；两个 token 的分数也不会超过二者对角线之积的平方根。于是每个 token 都偏向自己，“看别人而不看自己”很难学出来。权重却不对称：softmax 是逐行做的。",
          en: "The diagonal also becomes $|\\q_i|^2$, never negative, and the score of two tokens cannot exceed the root of the product of theirs. So every token leans towards itself, and looking at another instead is hard to learn. The weights are not symmetric, though: softmax goes row by row.",
        },
      ],
      task: {
        zh: "先在“各用各的”时看 $S-S^{\\top}$，再改成共用。",
        en: "Look at $S-S^{\\top}$ with a matrix each, then share it.",
      },
      formulae: [{ id: "difference", lit: ["scores"] }],
      strip: "plain",
      at: "scores",
    },
    {
      id: "merged",
      part: "tied",
      title: { zh: "三个合成一个？", en: "All three in one?" },
      body: [
        {
          zh: "$\\Q$ 与 $\\K$ 只以 $W^Q(W^K)^{\\top}$ 的形式出现在分数里，可以看成一个矩阵，但它一般不对称，所以不能由同一个投影给出。$\\V$ 走的是另一条路：权重定了，它才进来。",
          en: "In the scores $\\Q$ and $\\K$ occur only as $W^Q(W^K)^{\\top}$. That may be seen as one matrix, but it is not symmetric in general, so a single shared projection cannot give it. $\\V$ takes another road: it comes in when the weights are settled.",
        },
        {
          zh: "让 $\\K=\\V$，一个 token 交出的就只能是别人找到它的凭据；三个全共用，就连“想找什么”也搭进去了。改动一个矩阵，本该只动它管的那一步，现在步步都动。",
          en: "With $\\K=\\V$ a token can hand over only what it is found by; with all three shared, what it looks for is bound up with them too. Changing a matrix should touch the step that it serves; now it touches every one.",
        },
      ],
      task: {
        zh: "“各用各的”时改 $W^V$：权重一格不动。改成 $\\K=\\V$ 再试。",
        en: "With a matrix each, change $W^V$: no weight moves. Share $\\K=\\V$ and try again.",
      },
      formulae: [attention("inputs", "scores")],
      strip: "plain",
      at: "inputs",
    },
  ],
  questions: scaleQuestions,
  seen: [
    {
      zh: "独立、方差为 1 的分量，点积的方差是 $d_k$；除以 $\\sqrt{d_k}$ 之后是 1。抽样与理论相符。",
      en: "For independent entries of variance 1 the dot product has variance $d_k$, and 1 after division by $\\sqrt{d_k}$. Samples and theory agree.",
    },
    {
      zh: "不缩放，向量一宽，softmax 就几乎是 one-hot：熵近 0，最大的权重近 1。",
      en: "Unscaled, softmax over wide vectors is nearly one-hot: entropy near 0, largest weight near 1.",
    },
    {
      zh: "$W^Q=W^K$ 使分数恰好对称；$W^V$ 与它们合并，交出的内容就绑在了匹配上。三个合成一个，就要付这两样代价。",
      en: "$W^Q=W^K$ makes scores exactly symmetric; merging $W^V$ with them binds what is handed over to what is matched. To merge all three is to pay both prices.",
    },
  ],
  later: [
    {
      zh: "softmax 雅可比矩阵的范数，以及有无缩放、共用与不共用投影的训练赛跑。它们需要反向传播，核心目前还没有。",
      en: "The norm of softmax’s Jacobian, and training races with and without the scale, with projections shared and not. They need the backward pass, which the core does not have yet.",
    },
  ],
} as const satisfies Lesson;

/** Words of the lesson's figures and plots. */
export const scaleTerms = {
  keyCount: { zh: "键的个数", en: "Keys" },
  tie: { zh: "投影", en: "Projections" },
  tieOwn: { zh: "各用各的", en: "a matrix each" },
  tieQk: { zh: "Q 与 K 共用", en: "Q and K share one" },
  tieKv: { zh: "K 与 V 共用", en: "K and V share one" },
  tieAll: { zh: "三者共用", en: "all three share one" },
  varianceByWidth: {
    zh: "点积的方差随宽度的变化，每种宽度 4096 对",
    en: "Variance of the dot product against width, 4096 pairs at each",
  },
  varianceAxis: { zh: "方差", en: "variance" },
  theoryRaw: { zh: "$\\q\\cdot\\k$，理论", en: "$\\q\\cdot\\k$, theory" },
  sampledRaw: { zh: "$\\q\\cdot\\k$，抽样", en: "$\\q\\cdot\\k$, sampled" },
  theoryScaled: { zh: "除以 $\\sqrt{d_k}$，理论", en: "over $\\sqrt{d_k}$, theory" },
  sampledScaled: { zh: "除以 $\\sqrt{d_k}$，抽样", en: "over $\\sqrt{d_k}$, sampled" },
  withScale: { zh: "除以 $\\sqrt{d_k}$", en: "divided by $\\sqrt{d_k}$" },
  withoutScale: { zh: "不除", en: "not divided" },
  entropyByWidth: {
    zh: "权重的熵随宽度的变化，256 个查询的平均",
    en: "Entropy of the weights against width, mean of 256 queries",
  },
  largestByWidth: {
    zh: "最大的权重随宽度的变化，256 个查询的平均",
    en: "Largest weight against width, mean of 256 queries",
  },
  bits: { zh: "比特", en: "bits" },
  entryDots: same(String.raw`$\q\cdot\k$`),
  deviation: same(String.raw`$\sqrt{d_k}$`),
  scaledScores: { zh: "缩放后的分数", en: "Scaled scores" },
  scaledWeights: { zh: "缩放后的权重", en: "Weights, scaled" },
  rawScores: { zh: "未缩放的分数", en: "Unscaled scores" },
  rawWeights: { zh: "未缩放的权重", en: "Weights, unscaled" },
  largest: { zh: "最大的", en: "Largest" },
  entropy: { zh: "熵（比特）", en: "Entropy (bits)" },
  s: same(String.raw`$S=\Q\K^{\top}$`),
  skew: same(String.raw`$S-S^{\top}$`),
  products: { zh: "（共 {count} 个乘积）", en: "({count} products in all)" },
  largestNote: { zh: "这一行最大的权重", en: "the largest weight of the row" },
  entropyNote: same(String.raw`$-\sum_j\w_j\log_2\w_j$`),
} as const satisfies Record<string, Text>;
