import { choice, field, numbers, oneOf } from "../codec.ts";

export const widths = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;
export const keyCounts = [2, 4, 8, 16, 32] as const;
export const ties = ["own", "qk", "kv", "all"] as const;
export type Tie = (typeof ties)[number];

export const scaleFields = {
  /** d_k */
  width: field<number>(64, oneOf(widths)),
  keyCount: field<number>(8, oneOf(keyCounts)),
  /** [3, 2] tokens and [2, 2] projections, x W. */
  x: field([1, 0, 0, 1, 1, 1], numbers(6)),
  wq: field([1, 0, 1, -1], numbers(4)),
  wk: field([0, 1, 1, 0], numbers(4)),
  wv: field([2, 0, 0, 1], numbers(4)),
  /** Which projections share one matrix. */
  tie: field<Tie>("own", choice(ties)),
};
