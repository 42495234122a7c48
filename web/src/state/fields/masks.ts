import { bits, field, numbers, toBits } from "../codec.ts";

export const masksFields = {
  /** [4]: the row with padding. */
  scores: field([3, 0.5, -1, 2], numbers(4)),
  keep: field(toBits("1100"), bits(4)),
  /** [4, 4] and [4]: the masks of the 4-token example. */
  mask: field(toBits("1000110011101111"), bits(16)),
  padding: field(toBits("1110"), bits(4)),
};
