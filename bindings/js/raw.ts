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
  Tensor,
  Trace,
} from "./types.js";

/** A tensor as the adapters want it. */
export interface RawTensor {
  readonly data: Float32Array;
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

/** The functions that bindings/embind.cpp registers. */
export interface Raw {
  attend(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Answer<AttentionResult>;
  traceAttention(q: RawTensor, k: RawTensor, v: RawTensor, options: RawOptions): Answer<Trace>;
  softmaxOf(scores: RawTensor, options: RawOptions): Answer<Tensor>;
  traceSoftmax(scores: RawTensor, options: RawOptions): Answer<Trace>;
  makeCausalMask(L: unknown, S: unknown, alignment: unknown): Answer<BoolTensor>;
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
  splitIntoHeads(x: RawTensor, numHeads: unknown): Answer<Tensor>;
  mergeFromHeads(x: RawTensor): Answer<Tensor>;
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
