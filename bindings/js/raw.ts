import type { Plain } from "./message.js";
import type {
  AttentionParameters,
  AttentionResult,
  BoolTensor,
  Cost,
  DotProductMoments,
  FaultName,
  MemoryUsage,
  MomentSummary,
  MultiHeadAttentionConfig,
  OnnxAttentionOutputs,
  RopeTable,
  Tensor,
  Trace,
} from "./types.js";

/** A tensor as the adapters want it. */
export type RawTensor = {
  readonly data: Float32Array;
  readonly shape: readonly number[];
};

export type RawPositions = {
  readonly data: Float64Array;
  readonly shape: readonly number[];
};

export type RawMask = {
  readonly boolean: boolean;
  readonly data: Float32Array | Uint8Array;
  readonly shape: readonly number[];
};

export type RawOptions = Readonly<Record<string, Plain>>;

/**
 * The functions that bindings/embind.cpp registers, called over the border, where they throw AttentionError; and those
 * that bindings/direct.cpp exports.
 */
export interface Raw {
  readonly memory: WebAssembly.Memory;
  _attentionRoom(count: number): number;
  _attendInRoom(
    ...numbers: [
      batch: number,
      heads: number,
      kvHeads: number,
      queries: number,
      keys: number,
      headDim: number,
      valueDim: number,
      causality: number,
      scale: number,
    ]
  ): number;
  attend(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): AttentionResult;
  traceAttention(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Trace;
  softmaxOf(scores: RawTensor, options: RawOptions): Tensor;
  traceSoftmax(scores: RawTensor, options: RawOptions): Trace;
  makeCausalMask(L: Plain, S: Plain, alignment: Plain): BoolTensor;
  makeWindowMask(L: Plain, S: Plain, window: Plain, alignment: Plain): BoolTensor;
  makePaddingMask(lengths: Plain, S: Plain, side: Plain): BoolTensor;
  andMasks(masks: readonly RawMask[]): BoolTensor | Tensor;
  additiveMask(mask: RawMask): Tensor;
  createMultiHead(config: RawOptions): {
    handle: number;
    config: Required<MultiHeadAttentionConfig>;
    parameterCount: number;
  };
  loadMultiHead(handle: number, names: readonly string[], tensors: readonly RawTensor[]): undefined;
  attendMultiHead(
    handle: number,
    query: RawTensor,
    key: RawTensor,
    value: RawTensor,
    options: RawOptions,
  ): AttentionResult;
  traceMultiHead(
    handle: number,
    query: RawTensor,
    key: RawTensor,
    value: RawTensor,
    options: RawOptions,
  ): Trace;
  freeMultiHead(handle: number): undefined;
  createKvCache(size: RawOptions): number;
  cacheLengths(handle: number): { lengths: number[]; capacity: number };
  appendToCache(handle: number, k: RawTensor, v: RawTensor, chunk: RawOptions): undefined;
  attendCached(
    handle: number,
    q: RawTensor,
    k: RawTensor,
    v: RawTensor,
    options: RawOptions,
  ): AttentionResult;
  dropOldestOfCache(handle: number, count: Plain): undefined;
  resetCache(handle: number): undefined;
  growCache(handle: number, capacity: Plain): undefined;
  freeKvCache(handle: number): undefined;
  createGroupedQuery(config: RawOptions): {
    handle: number;
    hiddenSize: number;
    numHeads: number;
    numKvHeads: number;
    headDim: number;
    parameterCount: number;
  };
  loadGroupedQuery(handle: number, names: readonly string[], tensors: readonly RawTensor[]): undefined;
  attendGroupedQuery(handle: number, x: RawTensor, options: RawOptions): AttentionResult;
  traceGroupedQuery(handle: number, x: RawTensor, options: RawOptions): Trace;
  freeGroupedQuery(handle: number): undefined;
  splitIntoHeads(x: RawTensor, numHeads: Plain): Tensor;
  mergeFromHeads(x: RawTensor): Tensor;
  repeatHeads(x: RawTensor, n: Plain): Tensor;
  rotate(x: RawTensor, options: RawOptions): Tensor;
  makeRopeTable(options: RawOptions): ReturnType<RopeTable>;
  normRows(x: RawTensor, options: RawOptions): Tensor;
  attendAdditive(query: RawTensor, key: RawTensor, value: RawTensor, options: RawOptions): AttentionResult;
  traceAdditive(query: RawTensor, key: RawTensor, value: RawTensor, options: RawOptions): Trace;
  attendLinear(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): { output: Tensor };
  onnxAttention(inputs: RawOptions, attributes: RawOptions): OnnxAttentionOutputs;
  onnxRotaryEmbedding(inputs: RawOptions, attributes: RawOptions): Tensor;
  onnxRmsNormalization(inputs: RawOptions, attributes: RawOptions): Tensor;
  widenHalves(bytes: Uint8Array, format: "F16" | "BF16"): Float32Array;
  replaceSequenceTokens(
    x: RawTensor,
    axis: number,
    range: readonly [number, number],
    kind: Plain,
    magnitude: number,
    seed: number,
  ): Tensor;
  compareSequences(
    before: RawTensor,
    after: RawTensor,
    axis: number,
    tolerance: number,
  ): { moved: boolean[]; distance: number[] };
  namesOfFaults(): FaultName[];
  attendWithFault(fault: Plain, q: RawTensor, k: RawTensor, v: RawTensor): Tensor;
  traceSoftmaxThenMask(scores: RawTensor, options: RawOptions): Trace;
  sumRows(x: RawTensor): Tensor;
  entropiesOfRows(x: RawTensor): Tensor;
  exponentOfGrowth(sizes: RawTensor, values: RawTensor): number;
  normalNumbers(shape: Plain, seed: Plain): Tensor;
  momentsOf(x: RawTensor): MomentSummary;
  theoryOfDotProducts(headDim: Plain, samples: Plain): DotProductMoments;
  countParameters(layer: RawOptions): AttentionParameters;
  countScoreMemory(size: RawOptions): ReturnType<Cost["scoresMemory"]>;
  countKvCacheMemory(size: RawOptions): ReturnType<Cost["kvCacheMemory"]>;
  countOperations(size: RawOptions): ReturnType<Cost["operations"]>;
  countDecodeOperations(size: RawOptions): ReturnType<Cost["decodeOperations"]>;
  memoryUsage(): MemoryUsage;
}
