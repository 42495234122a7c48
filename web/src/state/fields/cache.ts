import { field, integer, oneOf, type Range } from "../codec.ts";

export const cacheRanges = { generated: [3, 8] } as const satisfies Record<string, Range>;

export const modelDims = [64, 128, 256, 512, 1024, 2048, 4096] as const;

/** What the calculator can be set to. */
export const memoryChoices = {
  memoryLength: [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
  memoryLayers: [1, 8, 16, 24, 32, 48, 64, 80],
  memoryKvHeads: [1, 2, 4, 8, 16, 32, 64],
  memoryHeadDim: [32, 64, 96, 128, 256],
  memoryBatch: [1, 2, 4, 8, 16, 32, 64],
  memoryBytes: [1, 2, 4],
} as const;

export const cacheFields = {
  /** Tokens that are generated, and the one that is looked at. */
  generated: field(6, integer(cacheRanges.generated)),
  position: field(3, integer([1, cacheRanges.generated[1] - 1])),
  /** Tokens in a chunk. */
  chunk: field(2, integer([1, cacheRanges.generated[1]])),
  modelDim: field<number>(512, oneOf(modelDims)),
  memoryLength: field<number>(8192, oneOf(memoryChoices.memoryLength)),
  memoryLayers: field<number>(32, oneOf(memoryChoices.memoryLayers)),
  memoryKvHeads: field<number>(8, oneOf(memoryChoices.memoryKvHeads)),
  memoryHeadDim: field<number>(128, oneOf(memoryChoices.memoryHeadDim)),
  memoryBatch: field<number>(1, oneOf(memoryChoices.memoryBatch)),
  memoryBytes: field<number>(2, oneOf(memoryChoices.memoryBytes)),
};

interface Generated {
  generated: number;
  position: number;
  chunk: number;
}

/** Keeps the position and the chunk within the tokens. */
export const fitGenerated = <Inputs extends Generated>(inputs: Inputs): Inputs => ({
  ...inputs,
  position: Math.min(inputs.position, inputs.generated - 1),
  chunk: Math.min(inputs.chunk, inputs.generated),
});
