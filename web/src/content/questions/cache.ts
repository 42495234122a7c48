import type { Question } from "../question.ts";

export const cacheQuestions = [
  {
    id: "chunk-sees",
    step: "equal",
    kind: "number",
    tolerance: 0,
    ask: {
      zh: "缓存里有 5 个 token，又一起进来 3 个。这 3 个里的第一个看得见几个键？",
      en: "A cache holds 5 tokens, and 3 more enter together. How many keys does the first of the three see?",
    },
    why: {
      zh: "过去的 5 个和它自己：{first} 个；段里的最后一个看得见 {last} 个。对齐到左上角的掩码只给第一个 {wrong} 个键，把整个过去都遮掉了。",
      en: "The 5 of the past and itself: {first}; the last of the chunk sees {last}. A mask lined up with the top left would leave the first {wrong} key and hide the whole past.",
    },
  },
  {
    id: "doubled",
    step: "chunks",
    kind: "choice",
    ask: {
      zh: "序列很长，远超模型的宽度。长度再翻一倍，*有缓存*时生成下一个 token 的运算大约变成几倍？",
      en: "A sequence is far longer than the model is wide, and doubles once more. *With a cache*, the next token takes about how many times the operations?",
    },
    options: {
      one: { zh: "不变", en: "As many" },
      two: { zh: "两倍", en: "Twice" },
      four: { zh: "四倍", en: "Four times" },
    },
    why: {
      zh: "一个查询对 $n$ 个键：与 $n$ 成正比。$d=64$、长度从 {short} 到 {long}，核心数出 {cached} 次，翻倍后 {cachedLong} 次。从头重算则是约四倍：{anew} 次到 {anewLong} 次。",
      en: "One query against $n$ keys grows with $n$. For $d=64$ and lengths {short} and {long} the core counts {cached} operations, then {cachedLong}. Computed afresh it is about four times: {anew}, then {anewLong}.",
    },
  },
  {
    id: "what-is-kept",
    step: "mask",
    kind: "choice",
    ask: {
      zh: "为了以后的 token，一步做完该留下什么？",
      en: "A step is done. What must be kept for the tokens to come?",
    },
    options: {
      kv: { zh: "键和值", en: "Keys and values" },
      qkv: { zh: "查询、键和值", en: "Queries, keys and values" },
      weights: { zh: "权重矩阵", en: "The matrix of weights" },
    },
    why: {
      zh: "以后的一行是新的查询对所有的键，再对所有的值。核心换掉旧的查询再算最后一行：动了 {query} 个数；换掉旧的键：{key} 个；换掉旧的值：{value} 个。",
      en: "A later row is a new query against all keys, then all values. The core computed the last row again with the old queries replaced: {query} numbers moved; with the old keys replaced: {key}; with the old values: {value}.",
    },
  },
] as const satisfies readonly Question[];
