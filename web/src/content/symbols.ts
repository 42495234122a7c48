import type { TermId } from "./glossary.ts";

/** How formulae write the terms of the glossary. Marked there by \sym, or by the macro of the letter. */
export const symbols: Readonly<Partial<Record<TermId, string>>> = {
  token: "x",
  query: "\\q",
  key: "\\k",
  value: "\\v",
  projection: "W^Q,W^K,W^V",
  "dot-product": "\\q\\cdot\\k",
  scores: "s",
  "head-dim": "d_k",
  softmax: "\\operatorname{softmax}",
  temperature: "T",
  "row-max": "m",
  "row-sum": "\\sum",
  weights: "\\w",
  output: "o",
  deviation: "\\sigma",
  "hidden-state": "h",
  bias: "b",
  mask: "M",
  cut: "t",
  replaced: "x'",
  head: "H",
  "model-dim": "D",
  "output-projection": "W^O",
  batch: "B",
  length: "n",
};

/** The term behind a letter that heads a row or a column, or stands in a line of arithmetic. */
export const letters: Readonly<Record<string, TermId>> = {
  q: "query",
  k: "key",
  v: "value",
  w: "weights",
  W: "weights",
  o: "output",
  s: "scores",
  m: "row-max",
  Σ: "row-sum",
  σ: "deviation",
  h: "hidden-state",
  b: "bias",
  x: "token",
  "x′": "replaced",
};
