import { same, type Text } from "./text.ts";

/** Words of the table of what `npm run bench` recorded. */
export const peerTerms = {
  work: { zh: "做什么", en: "Work" },
  plain: { zh: "普通 SIMD", en: "plain SIMD" },
  relaxed: { zh: "relaxed SIMD", en: "relaxed SIMD" },
  none: same("–"),
} as const satisfies Record<string, Text>;

/** The workloads of bench/workloads.mjs, by their ids. */
export const peerWork = {
  "full-1024": { zh: "$n = 1024$，全部键", en: "$n = 1024$, all keys" },
  "causal-1024": { zh: "$n = 1024$，因果", en: "$n = 1024$, causal" },
  "full-512-128": { zh: "32 个头，$n = 512$，头维 128", en: "32 heads, $n = 512$, head dim 128" },
  "decode-4096": { zh: "生成一个 token，前面有 4096 个", en: "one token more after 4096" },
  "gqa-decode-4096": {
    zh: "同上，32 个查询头、8 个键值头，头维 128",
    en: "the same, 32 query and 8 key/value heads, head dim 128",
  },
  "layer-512": {
    zh: "整个多头层，$d = 512$，$n = 512$",
    en: "a whole multi-head layer, $d = 512$, $n = 512$",
  },
  "tokens-4": { zh: "4 个 token 的一次调用", en: "a call of 4 tokens" },
} as const satisfies Record<string, Text>;
