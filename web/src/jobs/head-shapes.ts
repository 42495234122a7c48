import { MultiHeadAttention, type MultiHeadStep } from "softlookup";
import { withLayer } from "../compute/layers.ts";

type Shape = readonly number[];

export type HeadShapes = Readonly<Record<MultiHeadStep | "x", Shape>>;

const zeros = (...shape: number[]) => ({
  data: new Float32Array(shape.reduce((size, axis) => size * axis, 1)),
  shape,
});

/** The shapes of a real run through a layer, which at the larger sizes takes a while. */
export function* headShapes(input: {
  batch: number;
  length: number;
  dim: number;
  heads: number;
}): Generator<HeadShapes> {
  const { batch, length, dim, heads } = input;
  const x = zeros(batch, length, dim);
  yield withLayer(new MultiHeadAttention({ embedDim: dim, numHeads: heads, bias: false }), (layer) => {
    layer.loadStateDict({ in_proj_weight: zeros(3 * dim, dim), "out_proj.weight": zeros(dim, dim) });
    const passes = layer.trace(x, x, x).steps.map(({ id, shape }) => [id, shape] as const);
    return { x: x.shape, ...(Object.fromEntries(passes) as Record<MultiHeadStep, Shape>) };
  });
}
