import { dotProductMoments, moments, randomNormal, scaledDotProductAttention } from "softlookup";
import { passes } from "../compute/figure.ts";

export interface Spread {
  dim: number;
  /** Of q·k, sampled. */
  variance: number;
  /** Of q·k / √d. */
  scaled: number;
  theory: ReturnType<typeof dotProductMoments>;
}

/** The variance of q·k over pairs of independent normal vectors, for each width. */
export function* dotProducts(input: {
  dims: readonly number[];
  samples: number;
  seed: number;
}): Generator<Spread> {
  for (const dim of input.dims) {
    // Each pair is a head of its own, so that no vector is used twice.
    const draw = (offset: number) => randomNormal([input.samples, 1, dim], input.seed * 2 + offset);
    const k = draw(1);
    const pass = passes(scaledDotProductAttention.trace(draw(0), k, k));
    yield {
      dim,
      variance: moments({ data: pass.scores, shape: [input.samples] }).variance,
      scaled: moments({ data: pass.scaled, shape: [input.samples] }).variance,
      theory: dotProductMoments(dim, input.samples),
    };
  }
}
