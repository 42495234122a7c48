import type { Term } from "./lesson.ts";
import { same, type Text } from "./text.ts";

/** What a formula of the strip is called where it cannot be seen. */
export const termNames = {
  inputs: { zh: "查询、键、值", en: "queries, keys, values" },
  scores: { zh: "分数", en: "scores" },
  scaled: { zh: "缩放", en: "scaling" },
  output: { zh: "乘以值", en: "times the values" },
  project: { zh: "投影", en: "projection" },
  mix: { zh: "输出投影", en: "output projection" },
} as const satisfies Partial<Record<Term, Text>>;

/** The operations as the strip writes them. */
export const terms = {
  inputs: same(String.raw`$\Q,\,\K,\,\V$`),
  scores: same(String.raw`$\Q\K^{\top}$`),
  scaled: same(String.raw`$\div\sqrt{d_k}$`),
  mask: { zh: "+ 掩码", en: "+ mask" },
  softmax: same("softmax"),
  output: same(String.raw`$\times\,\V$`),
  project: same(String.raw`$X\to\Q,\,\K,\,\V$`),
  split: { zh: "切头", en: "cut into heads" },
  attend: { zh: "每头各做注意力", en: "attention in each" },
  concat: { zh: "合头", en: "merge" },
  mix: same(String.raw`$\times\,W^O$`),
  given: same("`x`"),
  projections: same("`q, k, v`"),
  cut: same("`view`"),
  turn: same("norm, RoPE"),
  past: { zh: "缓存", en: "cache" },
  repeat: same("`repeat_kv`"),
  weigh: { zh: "注意力", en: "attention" },
  home: same("`o_proj`"),
} as const satisfies Record<Term, Text>;
