import { same, type Text } from "./text.ts";

/** Words of the table of what `npm run bench` recorded. */
export const peerTerms = {
  work: { zh: "做什么", en: "Work" },
  plain: { zh: "普通", en: "plain" },
  relaxed: same("relaxed"),
  none: same("–"),
} as const satisfies Record<string, Text>;

/** The workloads of bench/workloads.mjs, by their ids. */
export const peerWork = {
  "full-1024": { zh: "$n = 1024$，全部键", en: "$n = 1024$, all keys" },
  "causal-1024": { zh: "$n = 1024$，因果", en: "$n = 1024$, causal" },
  "full-512-128": { zh: "$n = 512$，头维 128", en: "$n = 512$, head dim 128" },
  "decode-4096": { zh: "4096 个之后再来一个 token", en: "one token after 4096" },
  "gqa-decode-4096": { zh: "同上，32 个查询头、8 个键值头", en: "the same, 32 query heads on 8" },
  "layer-512": { zh: "整个多头层，$n = d = 512$", en: "a whole layer, $n = d = 512$" },
  "tokens-4": { zh: "4 个 token 的一次调用", en: "a call of 4 tokens" },
} as const satisfies Record<string, Text>;
