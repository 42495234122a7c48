import { field, integer, oneOf, type Range } from "../codec.ts";
import { headCounts } from "./heads.ts";

export const costChoices = {
  costLength: [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
  costDim: [64, 128, 256, 512, 768, 1024, 2048, 4096, 8192],
  costLayers: [1, 6, 8, 12, 24, 32, 48, 80],
  costBytes: [1, 2, 4],
  sweepDim: [16, 32, 64, 128],
  sweepWindow: [16, 32, 64, 128],
} as const;

export const costRanges = {
  costTokens: [4, 8],
  costSeed: [0, 9999],
} as const satisfies Record<string, Range>;

export const costFields = {
  costLength: field<number>(2048, oneOf(costChoices.costLength)),
  costDim: field<number>(512, oneOf(costChoices.costDim)),
  costHeads: field(8, integer([1, 8192])),
  costLayers: field<number>(12, oneOf(costChoices.costLayers)),
  /** 2 for fp16. */
  costBytes: field<number>(2, oneOf(costChoices.costBytes)),
  sweepDim: field<number>(64, oneOf(costChoices.sweepDim)),
  sweepWindow: field<number>(64, oneOf(costChoices.sweepWindow)),
  /** The small example: its tokens, and the keys that a query of its window sees. */
  costTokens: field(6, integer(costRanges.costTokens)),
  costWindow: field(3, integer([1, costRanges.costTokens[1]])),
  costSeed: field(2, integer(costRanges.costSeed)),
};

/** Up to this many heads the slider offers. */
const mostHeads = 128;

export const costHeadCounts = (dim: number): number[] =>
  headCounts(dim).filter((count) => count <= mostHeads);

interface Cost {
  costDim: number;
  costHeads: number;
  costTokens: number;
  costWindow: number;
}

/** Takes away what no longer fits after a size has changed. */
export const fitCost = <Inputs extends Cost>(inputs: Inputs): Inputs => ({
  ...inputs,
  costHeads: Math.max(...costHeadCounts(inputs.costDim).filter((count) => count <= inputs.costHeads)),
  costWindow: Math.min(inputs.costWindow, inputs.costTokens),
});
