import { field, numbers } from "../codec.ts";

/** [4, 2] each, row-major: the chapter's example, shared by the formula and the masks. */
export const formulaFields = {
  q: field([1, 1, 0, 1, 1, 0, 0.5, 0.5], numbers(8)),
  k: field([1, 1, 0, 1, 1, 0, 0.5, 0.5], numbers(8)),
  v: field([1, 0, 0, 1, 1, 1, 0.5, 0.5], numbers(8)),
};
