/** Id of the one element that explains the symbol at hand. */
export const termTip = "term-tip";
