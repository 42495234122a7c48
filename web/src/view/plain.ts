const plainer: readonly (readonly [RegExp, string])[] = [
  [/\\times/g, "×"],
  [/\\cdot/g, "·"],
  [/\\top/g, "T"],
  [/\\text|\\operatorname/g, ""],
  [/\\[,;!]/g, " "],
  [/[\\{}$]/g, ""],
];

/** What a text that is all one formula is called where formulae are not heard; other texts speak for themselves. */
export function formulaName(text: string): string | undefined {
  if (!/^\$[^$]+\$$/.test(text)) return undefined;
  return plainer.reduce((plain, [from, to]) => plain.replace(from, to), text).trim();
}
