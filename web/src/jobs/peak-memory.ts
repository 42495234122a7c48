import { memoryUsage, randomNormal, scaledDotProductAttention } from "softlookup";

export interface PeakMemory {
  length: number;
  /** Of the core's memory after the call: it only ever grows. */
  bytes: number;
}

/** How large the memory of a fresh core has grown after attention over each length; lengths must rise. */
export function* peakMemory(input: {
  lengths: readonly number[];
  dim: number;
  needWeights: boolean;
}): Generator<PeakMemory> {
  const { dim, needWeights } = input;
  for (const length of input.lengths) {
    const x = randomNormal([length, dim], 0);
    scaledDotProductAttention(x, x, x, { needWeights });
    yield { length, bytes: memoryUsage().total };
  }
}
