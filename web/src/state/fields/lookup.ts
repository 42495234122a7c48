import { field, numbers, oneOf } from "../codec.ts";

/** From all but hard to all but a plain mean. */
export const temperatures = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100] as const;

export const lookupFields = {
  /** [2], [4, 2] and [4, 2]: a dictionary of four entries. */
  query: field([0.9, 0.4], numbers(2)),
  keys: field([1, 0, 0.8, 0.6, 0, 1, -1, 0], numbers(8)),
  values: field([1, 0, 0, 1, -1, 0, 0, -1], numbers(8)),
  temperature: field<number>(0.2, oneOf(temperatures)),
  /**
   * [4, 2], [4, 2], [4], [4]: additive attention that measures a match. Two tanh back to back make a
   * bump where W q and U k cancel, one pair for each component.
   */
  addW: field([-2, 0, -2, 0, 0, -2, 0, -2], numbers(8)),
  addU: field([2, 0, 2, 0, 0, 2, 0, 2], numbers(8)),
  addB: field([1, -1, 1, -1], numbers(4)),
  addV: field([2, -2, 2, -2], numbers(4)),
  /** [3, 2] and [5, 2]: what the encoder gave for a sentence, and the decoder's states. */
  encoder: field([1, 0, 0, 1, -1, 0], numbers(6)),
  decoder: field([0.9, 0.1, 0.1, 0.9, -0.9, 0.1, -0.8, -0.1, -0.7, -0.3], numbers(10)),
};
