import { type Edit, edits, field, integer, oneOf, type Range } from "../codec.ts";

/** Model dims of the small example, and of the shapes and counts: the chapter's 512 and GPT-2's 768 among them. */
export const headsDims = [4, 6, 8] as const;
export const shapeDims = [4, 8, 16, 32, 64, 128, 256, 512, 768] as const;

export const headsRanges = {
  headsLength: [2, 6],
  headsSeed: [0, 9999],
  shapeBatch: [1, 2],
  shapeLength: [1, 6],
} as const satisfies Record<string, Range>;

const mostHeads = 768;

export const headsFields = {
  headsLength: field(4, integer(headsRanges.headsLength)),
  headsDim: field(6, oneOf(headsDims)),
  headsCount: field(2, integer([1, 8])),
  headsSeed: field(3, integer(headsRanges.headsSeed)),
  /** Tokens typed over. */
  headsTokens: field<readonly Edit[]>([], edits),
  /** The head that is silenced. */
  headsSilent: field(0, integer([0, 7])),
  shapeBatch: field(2, integer(headsRanges.shapeBatch)),
  shapeLength: field(4, integer(headsRanges.shapeLength)),
  shapeDim: field(512, oneOf(shapeDims)),
  shapeHeads: field(8, integer([1, mostHeads])),
};

/** The numbers of heads that a width can be split into. */
export function headCounts(dim: number): number[] {
  return Array.from({ length: dim }, (_, index) => index + 1).filter((count) => dim % count === 0);
}

/** The largest number of heads that is possible and not above the one wanted. */
function fittedCount(count: number, dim: number): number {
  return Math.max(...headCounts(dim).filter((possible) => possible <= count));
}

interface Heads {
  headsLength: number;
  headsDim: number;
  headsCount: number;
  headsTokens: readonly Edit[];
  headsSilent: number;
  shapeDim: number;
  shapeHeads: number;
}

/** Takes away what no longer fits after a size has changed. */
export function fitHeads<Inputs extends Heads>(inputs: Inputs): Inputs {
  const headsCount = fittedCount(inputs.headsCount, inputs.headsDim);
  return {
    ...inputs,
    headsCount,
    headsSilent: Math.min(inputs.headsSilent, headsCount - 1),
    headsTokens: inputs.headsTokens.filter(
      ({ row, col }) => row < inputs.headsLength && col < inputs.headsDim,
    ),
    shapeHeads: fittedCount(inputs.shapeHeads, inputs.shapeDim),
  };
}
