import {
  GroupedQueryAttention,
  type GroupedQueryOptions,
  type GroupedQueryStep,
  KVCache,
  randomNormal,
  rowSums,
  type Tensor,
} from "softlookup";
import type { Inputs } from "../state/inputs.ts";
import { indices, passes } from "./figure.ts";
import { drawnMatrix, times, withLayer } from "./layers.ts";
import { remembered } from "./remembered.ts";

/** Sizes and seed of one layer and of what it is given. */
export interface Sizes {
  batch: number;
  length: number;
  hidden: number;
  heads: number;
  kvHeads: number;
  seed: number;
  theta: number;
}

export const eps = 1e-6;

export const sizesOf = (inputs: Inputs): Sizes => ({
  batch: inputs.mmBatch,
  length: inputs.mmLength,
  hidden: inputs.mmHidden,
  heads: inputs.mmHeads,
  kvHeads: inputs.mmKvHeads,
  seed: inputs.mmSeed,
  theta: inputs.mmTheta,
});

/** x [B, n, hidden]: drawn, with what was typed over in the first sequence. */
export function inputOf(inputs: Inputs): Tensor {
  const { mmBatch, mmLength, mmHidden, mmSeed, mmTokens } = inputs;
  const { data, shape } = randomNormal([mmBatch, mmLength, mmHidden], mmSeed);
  mmTokens.forEach(({ row, col, value }) => {
    data[row * mmHidden + col] = value;
  });
  return { data, shape };
}

/** [width]: weights of a norm, 1 and a tenth of a drawn number. */
function drawnNorm(width: number, seed: number): Tensor {
  const tenth = times(randomNormal([width], seed).data, 0.1);
  return rowSums({ data: [...tenth].flatMap((value) => [1, value]), shape: [width, 2] });
}

/** Parameters under the names of the model's file, each drawn from a seed of its own. */
const parametersOf = remembered(({ hidden, heads, kvHeads, seed, headDim }: Sizes & { headDim: number }) => ({
  "q_proj.weight": drawnMatrix(heads * headDim, hidden, seed + 1),
  "k_proj.weight": drawnMatrix(kvHeads * headDim, hidden, seed + 2),
  "v_proj.weight": drawnMatrix(kvHeads * headDim, hidden, seed + 3),
  "o_proj.weight": drawnMatrix(hidden, heads * headDim, seed + 4),
  "q_norm.weight": drawnNorm(headDim, seed + 5),
  "k_norm.weight": drawnNorm(headDim, seed + 6),
}));

export type Parameters = ReturnType<typeof parametersOf>;

/** Uses the layer of these sizes, its parameters loaded. */
export function withAttention<Result>(
  sizes: Sizes,
  use: (layer: GroupedQueryAttention, parameters: Parameters) => Result,
): Result {
  const { hidden, heads, kvHeads, theta } = sizes;
  const layer = new GroupedQueryAttention({
    hiddenSize: hidden,
    numHeads: heads,
    numKvHeads: kvHeads,
    qkNorm: { eps },
    rope: { layout: "half", theta },
  });
  return withLayer(layer, () => {
    const parameters = parametersOf({ ...sizes, headDim: layer.headDim });
    layer.loadStateDict(parameters);
    return use(layer, parameters);
  });
}

export interface Walk {
  pass: Readonly<Record<GroupedQueryStep, Float32Array>>;
  shapes: Readonly<Record<GroupedQueryStep, readonly number[]>>;
  parameters: Parameters;
  x: Tensor;
  headDim: number;
  /** The key/value head that the shown query head reads. */
  kvHead: number;
}

/** The reader's attention_mask [B, n]; sequences that are not shown have no padding. */
export function keepOf({ mmBatch, mmLength, mmKeep }: Inputs) {
  const first = indices(mmLength).map((key) => (mmKeep[key] === true ? 1 : 0));
  const others = new Array<number>((mmBatch - 1) * mmLength).fill(1);
  return { data: Uint8Array.from([...first, ...others]), shape: [mmBatch, mmLength] };
}

/** Runs of these very inputs: the parts of a step, and the steps after it, ask for the same again. */
const walks = new WeakMap<Inputs, Map<boolean, Walk>>();

/** One run through the layer, every line of it, under the reader's padding or under none. */
export function walk(inputs: Inputs, padded = false): Walk {
  const known = walks.get(inputs) ?? new Map<boolean, Walk>();
  walks.set(inputs, known);
  const found = known.get(padded) ?? walkAnew(inputs, padded ? { keyMask: keepOf(inputs) } : {});
  known.set(padded, found);
  return found;
}

function walkAnew(inputs: Inputs, options: GroupedQueryOptions): Walk {
  const x = inputOf(inputs);
  return withAttention(sizesOf(inputs), (layer, parameters) => {
    const trace = layer.trace(x, options);
    return {
      pass: passes(trace),
      shapes: Object.fromEntries(trace.steps.map(({ id, shape }) => [id, shape])) as Walk["shapes"],
      parameters,
      x,
      headDim: layer.headDim,
      kvHead: Math.floor(inputs.mmHead / (inputs.mmHeads / inputs.mmKvHeads)),
    };
  });
}

/** The same layer in two calls: the past into a cache, then the rest against it. */
export function walkCached(inputs: Inputs) {
  const { mmBatch, mmLength, mmHidden, mmKvHeads, mmPast } = inputs;
  const x = inputOf(inputs);
  const part = (from: number, to: number): Tensor => ({
    data: Float32Array.from(
      indices(mmBatch).flatMap((b) => [
        ...x.data.subarray((b * mmLength + from) * mmHidden, (b * mmLength + to) * mmHidden),
      ]),
    ),
    shape: [mmBatch, to - from, mmHidden],
  });
  return withAttention(sizesOf(inputs), (layer) =>
    withLayer(
      new KVCache({ batch: mmBatch, numKvHeads: mmKvHeads, headDim: layer.headDim, capacity: mmLength }),
      (cache) => {
        const prefill = layer.forward(part(0, mmPast), { cache, fast: false }).output;
        const { steps } = layer.trace(part(mmPast, mmLength), { cache });
        return { prefill, pass: passes({ steps }), steps };
      },
    ),
  );
}

/** Head h of the first sequence of [B, L, H, E] → [L, E]. */
export function headOf(
  data: Float32Array,
  length: number,
  heads: number,
  width: number,
  head: number,
): Float32Array {
  return Float32Array.from(
    indices(length).flatMap((token) => [
      ...data.subarray((token * heads + head) * width, (token * heads + head + 1) * width),
    ]),
  );
}
