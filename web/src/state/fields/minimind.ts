import { bits, type Bits, type Edit, edits, field, integer, oneOf, type Range, toBits } from "../codec.ts";
import { headCounts } from "./heads.ts";

export const hiddenSizes = [8, 16, 24, 32, 64, 96] as const;
/** Wider inputs are drawn, not typed. */
const widestTyped = 24;
const mostTokens = 8;

export const minimindRanges = {
  mmBatch: [1, 2],
  mmLength: [2, mostTokens],
  mmSeed: [0, 9999],
  mmStart: [0, 1000],
} as const satisfies Record<string, Range>;

/** 1e6 is MiniMind's. */
export const thetas = [10, 100, 10_000, 1_000_000] as const;

export const minimindFields = {
  mmBatch: field(2, integer(minimindRanges.mmBatch)),
  mmLength: field(5, integer(minimindRanges.mmLength)),
  mmHidden: field(16, oneOf(hiddenSizes)),
  mmHeads: field(4, integer([1, 16])),
  mmKvHeads: field(2, integer([1, 16])),
  mmSeed: field(1, integer(minimindRanges.mmSeed)),
  mmTokens: field<readonly Edit[]>([], edits),
  /** The query head whose numbers are shown. */
  mmHead: field(1, integer([0, 15])),
  /** Tokens that are in the cache already. */
  mmPast: field(3, integer([1, mostTokens - 1])),
  /** attention_mask of the sequence shown: real tokens. */
  mmKeep: field<Bits>(toBits("1".repeat(mostTokens)), bits(mostTokens)),
  /** The position that is turned, and the one that all positions are moved by. */
  mmPosition: field(2, integer([0, mostTokens - 1])),
  mmStart: field(7, integer(minimindRanges.mmStart)),
  mmTheta: field(1_000_000, oneOf(thetas)),
};

/** RoPE turns pairs, so a head's width has to be even. */
export const queryHeadCounts = (hidden: number): number[] =>
  headCounts(hidden).filter((count) => count <= 16 && (hidden / count) % 2 === 0);

interface Minimind {
  mmLength: number;
  mmHidden: number;
  mmHeads: number;
  mmKvHeads: number;
  mmHead: number;
  mmPast: number;
  mmPosition: number;
  mmTokens: readonly Edit[];
}

const nearest = (wanted: number, possible: readonly number[]) =>
  Math.max(...possible.filter((count) => count <= wanted));

export const isTyped = (hidden: number): boolean => hidden <= widestTyped;

/** Takes away what no longer fits after a size has changed. */
export function fitMinimind<Inputs extends Minimind>(inputs: Inputs): Inputs {
  const { mmLength, mmHidden } = inputs;
  const mmHeads = nearest(inputs.mmHeads, queryHeadCounts(mmHidden));
  return {
    ...inputs,
    mmHeads,
    mmKvHeads: nearest(inputs.mmKvHeads, headCounts(mmHeads)),
    mmHead: Math.min(inputs.mmHead, mmHeads - 1),
    mmPast: Math.min(inputs.mmPast, mmLength - 1),
    mmPosition: Math.min(inputs.mmPosition, mmLength - 1),
    mmTokens: inputs.mmTokens.filter(({ row, col }) => isTyped(mmHidden) && row < mmLength && col < mmHidden),
  };
}
