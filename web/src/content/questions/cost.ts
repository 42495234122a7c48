import type { Question } from "../question.ts";

export const costQuestions = [
  {
    id: "matrix-2k",
    step: "time",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "$n=2048$，一个头，一条序列，fp16。权重表占多少 MiB？",
      en: "$n=2048$, one head, one sequence, fp16. How many MiB does the table of weights take?",
    },
    why: {
      zh: "{elements} 个数，每个 2 字节：{small} MiB。$n=8192$ 时是 {large} MiB：长度四倍，表十六倍。",
      en: "{elements} numbers of 2 bytes: {small} MiB. At $n=8192$ it is {large} MiB: four times the length, sixteen times the table.",
    },
  },
  {
    id: "wider",
    step: "matrix",
    kind: "choice",
    ask: {
      zh: "宽度 $d$ 和长度 $n$ 都加倍。一层的参数变成几倍？",
      en: "Both the width $d$ and the length $n$ are doubled. How many times the parameters does a layer have?",
    },
    options: {
      two: { zh: "2 倍", en: "Twice" },
      four: { zh: "4 倍", en: "Four times" },
      sixteen: { zh: "16 倍", en: "Sixteen times" },
    },
    why: {
      zh: "从 $d=512$ 到 1024，参数从 {before} 到 {after}；长度不在公式里。",
      en: "From $d=512$ to 1024, parameters go from {before} to {after}; length is not in the formula.",
    },
  },
  {
    id: "crossing",
    step: "parameters",
    kind: "choice",
    ask: {
      zh: "$n=512$，$d=1024$。一层的运算里，注意力（打分和加权求和）占多少？",
      en: "$n=512$, $d=1024$. What share of a layer’s operations is attention (scores and weighted sums)?",
    },
    options: {
      small: { zh: "不到一半", en: "Less than half" },
      half: { zh: "一半", en: "Half" },
      large: { zh: "超过一半", en: "More than half" },
    },
    why: {
      zh: "占 {share}。$4n^2d$ 对 $8nd^2$：要到 $n=2d$ 才各占一半。所以短序列上该优化的是投影。",
      en: "Its share is {share}. $4n^2d$ stands against $8nd^2$, and they are equal only at $n=2d$. Over short sequences it is the projections that are worth making fast.",
    },
  },
  {
    id: "pairs-seen",
    step: "peak",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "10 个 token，滑窗 $W=4$（含自己）。一共算几对查询和键？",
      en: "10 tokens, a sliding window of $W=4$, the query’s own key included. How many pairs of query and key are there?",
    },
    why: {
      zh: "{window} 对；不设窗的因果掩码是 {causal} 对，全部是 {all} 对。开头几行的窗还没有满。",
      en: "{window}; the causal mask alone has {causal}, and no mask {all}. In the first rows the window is not full yet.",
    },
  },
  {
    id: "same-function",
    step: "window",
    kind: "choice",
    ask: {
      zh: "线性注意力不留表，时间随 $n$ 增长。同样的 $\\Q$、$\\K$、$\\V$，它的输出与 softmax 注意力相同吗？",
      en: "Linear attention keeps no table, and its time grows with $n$. For the same $\\Q$, $\\K$ and $\\V$, are its outputs those of softmax attention?",
    },
    options: {
      same: { zh: "相同，只是更快", en: "Yes, only faster" },
      other: { zh: "不同", en: "No" },
    },
    why: {
      zh: "最多差了 {apart}。它是另一个函数，模型要按它来训练；分块计算才是同一个函数。",
      en: "They differ by up to {apart}. It is another function, and a model has to be trained with it; tiling is what leaves the function alone.",
    },
  },
] as const satisfies readonly Question[];
