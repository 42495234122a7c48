import type { ErrorCode } from "./error-codes.js";
import { AttentionError } from "./error.js";
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
export interface RawTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

export interface RawPositions {
  readonly data: Float64Array;
  readonly shape: readonly number[];
}

export interface RawMask {
  readonly boolean: boolean;
  readonly data: Float32Array | Uint8Array;
  readonly shape: readonly number[];
}

export type RawOptions = Readonly<Record<string, unknown>>;

export interface Failure {
  failure: { code: ErrorCode; message: string };
}

type Answer<Value> = Value | Failure;

/** The functions that bindings/embind.cpp registers and bindings/direct.cpp exports. */
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
  attend(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Answer<AttentionResult>;
  traceAttention(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Answer<Trace>;
  softmaxOf(scores: RawTensor, options: RawOptions): Answer<Tensor>;
  traceSoftmax(scores: RawTensor, options: RawOptions): Answer<Trace>;
  makeCausalMask(L: unknown, S: unknown, alignment: unknown): Answer<BoolTensor>;
  makeWindowMask(L: unknown, S: unknown, window: unknown, alignment: unknown): Answer<BoolTensor>;
  makePaddingMask(lengths: unknown, S: unknown, side: unknown): Answer<BoolTensor>;
  andMasks(masks: readonly RawMask[]): Answer<BoolTensor | Tensor>;
  additiveMask(mask: RawMask): Answer<Tensor>;
  createMultiHead(config: RawOptions): Answer<{
    handle: number;
    config: Required<MultiHeadAttentionConfig>;
    parameterCount: number;
  }>;
  loadMultiHead(handle: number, names: readonly string[], tensors: readonly RawTensor[]): Answer<undefined>;
  attendMultiHead(
    handle: number,
    query: RawTensor,
    key: RawTensor,
    value: RawTensor,
    options: RawOptions,
  ): Answer<AttentionResult>;
  traceMultiHead(
    handle: number,
    query: RawTensor,
    key: RawTensor,
    value: RawTensor,
    options: RawOptions,
  ): Answer<Trace>;
  freeMultiHead(handle: number): undefined;
  createKvCache(size: RawOptions): Answer<number>;
  cacheLengths(handle: number): Answer<{ lengths: number[]; capacity: number }>;
  appendToCache(handle: number, k: RawTensor, v: RawTensor, chunk: RawOptions): Answer<undefined>;
  attendCached(
    handle: number,
    q: RawTensor,
    k: RawTensor,
    v: RawTensor,
    options: RawOptions,
  ): Answer<AttentionResult>;
  dropOldestOfCache(handle: number, count: unknown): Answer<undefined>;
  resetCache(handle: number): Answer<undefined>;
  growCache(handle: number, capacity: unknown): Answer<undefined>;
  freeKvCache(handle: number): undefined;
  createGroupedQuery(config: RawOptions): Answer<{
    handle: number;
    hiddenSize: number;
    numHeads: number;
    numKvHeads: number;
    headDim: number;
    parameterCount: number;
  }>;
  loadGroupedQuery(
    handle: number,
    names: readonly string[],
    tensors: readonly RawTensor[],
  ): Answer<undefined>;
  attendGroupedQuery(handle: number, x: RawTensor, options: RawOptions): Answer<AttentionResult>;
  traceGroupedQuery(handle: number, x: RawTensor, options: RawOptions): Answer<Trace>;
  freeGroupedQuery(handle: number): undefined;
  splitIntoHeads(x: RawTensor, numHeads: unknown): Answer<Tensor>;
  mergeFromHeads(x: RawTensor): Answer<Tensor>;
  repeatHeads(x: RawTensor, n: unknown): Answer<Tensor>;
  rotate(x: RawTensor, options: RawOptions): Answer<Tensor>;
  makeRopeTable(options: RawOptions): Answer<ReturnType<RopeTable>>;
  normRows(x: RawTensor, options: RawOptions): Answer<Tensor>;
  attendAdditive(
    query: RawTensor,
    key: RawTensor,
    value: RawTensor,
    options: RawOptions,
  ): Answer<AttentionResult>;
  traceAdditive(query: RawTensor, key: RawTensor, value: RawTensor, options: RawOptions): Answer<Trace>;
  attendLinear(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Answer<{ output: Tensor }>;
  onnxAttention(inputs: RawOptions, attributes: RawOptions): Answer<OnnxAttentionOutputs>;
  onnxRotaryEmbedding(inputs: RawOptions, attributes: RawOptions): Answer<Tensor>;
  onnxRmsNormalization(inputs: RawOptions, attributes: RawOptions): Answer<Tensor>;
  widenHalves(bytes: Uint8Array, format: "F16" | "BF16"): Answer<Float32Array>;
  replaceSequenceTokens(
    x: RawTensor,
    axis: number,
    range: readonly [number, number],
    kind: string,
    magnitude: number,
    seed: number,
  ): Answer<Tensor>;
  compareSequences(
    before: RawTensor,
    after: RawTensor,
    axis: number,
    tolerance: number,
  ): Answer<{ moved: boolean[]; distance: number[] }>;
  namesOfFaults(): FaultName[];
  attendWithFault(fault: unknown, q: RawTensor, k: RawTensor, v: RawTensor): Answer<Tensor>;
  traceSoftmaxThenMask(scores: RawTensor, options: RawOptions): Answer<Trace>;
  sumRows(x: RawTensor): Answer<Tensor>;
  entropiesOfRows(x: RawTensor): Answer<Tensor>;
  exponentOfGrowth(sizes: RawTensor, values: RawTensor): Answer<number>;
  normalNumbers(shape: unknown, seed: unknown): Answer<Tensor>;
  momentsOf(x: RawTensor): Answer<MomentSummary>;
  theoryOfDotProducts(headDim: unknown, samples: unknown): Answer<DotProductMoments>;
  countParameters(layer: RawOptions): Answer<AttentionParameters>;
  countScoreMemory(size: RawOptions): Answer<ReturnType<Cost["scoresMemory"]>>;
  countKvCacheMemory(size: RawOptions): Answer<ReturnType<Cost["kvCacheMemory"]>>;
  countOperations(size: RawOptions): Answer<ReturnType<Cost["operations"]>>;
  countDecodeOperations(size: RawOptions): Answer<ReturnType<Cost["decodeOperations"]>>;
  memoryUsage(): MemoryUsage;
}

/** The value of an answer; throws the core's error. */
export function unwrap<Value>(answer: Answer<Value>): Value {
  if (typeof answer === "object" && answer !== null && "failure" in answer) {
    throw new AttentionError(answer.failure.code, answer.failure.message);
  }
  return answer;
}
