import { randomNormal, rowSums, scaledDotProductAttention, type Tensor } from "softlookup";
import { passes } from "./figure.ts";

// Pieces of a layer, each of them computed by the core.

/** x wᵀ for x [n, in] and w [out, in]: a projection is the scores of x against the rows of w. */
export function projected(x: Tensor, weight: Tensor): Tensor {
  const shape = [x.shape[0] ?? 0, weight.shape[0] ?? 0];
  return { data: passes(scaledDotProductAttention.trace(x, weight, weight)).scores, shape };
}

/** Numbers times one number: their scores against 1, scaled. */
export function times(numbers: Float32Array, scale: number): Float32Array {
  const column = { data: numbers, shape: [numbers.length, 1] };
  return passes(scaledDotProductAttention.trace(column, [[1]], [[1]], { scale })).scaled;
}

/** 1 / √width: what the core's own scale makes of a score of 1. */
function defaultScale(width: number): number {
  const unit = { data: Float32Array.from({ length: width }, (_, i) => (i === 0 ? 1 : 0)), shape: [1, width] };
  return passes(scaledDotProductAttention.trace(unit, unit, unit)).scaled[0] ?? NaN;
}

/**
 * A drawn matrix [out, width] over √width, as layers are initialised: what it makes of a vector is
 * about as large as the vector.
 */
export function drawnMatrix(out: number, width: number, seed: number): Tensor {
  const { data, shape } = randomNormal([out, width], seed);
  return { data: times(data, defaultScale(width)), shape };
}

/** a − b, as the core subtracts. */
export function difference(a: ArrayLike<number>, b: ArrayLike<number>): Float32Array {
  const pairs = Array.from(a, (value, index) => [value, -(b[index] ?? NaN)]);
  return rowSums({ data: pairs.flat(), shape: [pairs.length, 2] }).data;
}

/** The number of largest size. */
export function largest(numbers: ArrayLike<number>): number {
  return Array.from(numbers, Math.abs).reduce((most, size) => Math.max(most, size), 0);
}

/** One block of a tensor whose leading axes are cut off: the nth run of `size` numbers. */
export function block(data: Float32Array, size: number, nth: number): Float32Array {
  return data.subarray(nth * size, (nth + 1) * size);
}

/** Rows of several matrices, one matrix below the other. */
export function stacked(...matrices: readonly Tensor[]): Tensor {
  const rows = matrices.reduce((count, { shape }) => count + (shape[0] ?? 0), 0);
  return {
    data: Float32Array.from(matrices.flatMap(({ data }) => [...data])),
    shape: [rows, ...(matrices[0]?.shape.slice(1) ?? [])],
  };
}

/** Uses an object that holds memory of the core, and frees it. */
export function withLayer<Layer extends { dispose(): void }, Result>(
  layer: Layer,
  use: (layer: Layer) => Result,
): Result {
  try {
    return use(layer);
  } finally {
    layer.dispose();
  }
}
