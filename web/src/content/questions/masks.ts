import type { Question } from "../question.ts";

export const masksQuestions = [
  {
    id: "raised",
    step: "padding-exp",
    kind: "choice",
    ask: {
      zh: "键 2 已被遮住，再把它的分数从 −1 提到 1000。看得见的两个键的权重会怎样？",
      en: "Key 2 is hidden. Now its score is raised from −1 to 1000. What happens to the weights of the two visible keys?",
    },
    options: {
      fall: { zh: "都变小", en: "Both fall" },
      same: { zh: "一位都不变", en: "Not a digit changes" },
      swap: { zh: "一增一减", en: "One rises, one falls" },
    },
    why: {
      zh: "任何有限的分数加上 $-\\infty$ 都是 $-\\infty$，它的指数恰好是零，分母里没有它。权重仍是 {first} 和 {second}。",
      en: "Any finite score plus $-\\infty$ is $-\\infty$, its exponential is exactly zero, and the denominator does not know of it. The weights are still {first} and {second}.",
    },
  },
  {
    id: "generating",
    step: "causal-output",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "模型在逐个生成，刚轮到第 6 个 token：只有一行查询，键有 6 个。因果掩码遮住其中几个？",
      en: "A model generates token by token and has come to the sixth: one row of queries, six keys. How many of them does the causal mask hide?",
    },
    why: {
      zh: "新 token 之后什么也没有，它的一行就是三角形的最后一行：{visible} 个键都看得见，遮住 {hidden} 个，所以不必再传掩码。前面各行早已算完，它们的键和值可以留着用：这就是 KV 缓存。",
      en: "Nothing comes after the newest token; its row is the last of the triangle: {visible} keys visible, {hidden} hidden, so that no mask need be passed. The rows before were done earlier, and their keys and values can be kept: that is the KV cache.",
    },
  },
  {
    id: "only-padding",
    step: "causal-output",
    kind: "cell",
    size: 4,
    ask: {
      zh: "四个 token，最后一个是补位。哪一格因果掩码允许，补位掩码却不允许？",
      en: "Of four tokens the last is padding. Which cell does the causal mask allow and the padding mask not?",
    },
    why: {
      zh: "补位遮住整个第 3 列，而这一列里因果掩码只允许最后一行。两者取 AND，就只多遮住这一格。",
      en: "Padding hides the whole of column 3, of which the causal mask had left only the last row. Their AND hides that one cell more.",
    },
  },
  {
    id: "after",
    step: "both-weights",
    kind: "choice",
    ask: {
      zh: "回到带补位的那一行。如果先做 softmax，再把被遮住的权重改成零，一行的权重加起来会怎样？",
      en: "Back to the row with padding. If the softmax comes first and hidden weights are set to zero afterwards, what does the row add up to?",
    },
    options: {
      less: { zh: "小于 1", en: "Less than 1" },
      one: { zh: "仍是 1", en: "Still 1" },
      more: { zh: "大于 1", en: "More than 1" },
    },
    why: {
      zh: "概率已经分给了被遮住的键，划掉就拿不回来。这一行只剩 {sum}；先掩后算则是 {right}。",
      en: "Part of the probability had gone to the hidden keys already, and striking it out does not bring it back. The row is left with {sum}; masked first, it has {right}.",
    },
  },
] as const satisfies readonly Question[];
