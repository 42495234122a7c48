import type * as types from "./types.js";
import { instance } from "./instance.js";

export { AttentionError } from "./error.js";
export { errorCodes, type ErrorCode } from "./error-codes.js";
export { boolTensor, tensor, zeros } from "./tensor.js";
export type * from "./types.js";

// A name that is exported as a value hides the type of the same name.
export type MultiHeadAttention = types.MultiHeadAttention;
export type GroupedQueryAttention = types.GroupedQueryAttention;
export type KVCache = types.KVCache;

export const {
  scaledDotProductAttention,
  softmax,
  masks,
  MultiHeadAttention,
  GroupedQueryAttention,
  KVCache,
  checkCausality,
  faultyAttention,
  splitHeads,
  mergeHeads,
  repeatKv,
  rope,
  ropeTable,
  rmsNorm,
  additiveAttention,
  linearAttention,
  rowSums,
  rowEntropies,
  growthExponent,
  randomNormal,
  moments,
  dotProductMoments,
  cost,
  memoryUsage,
  simd,
} = instance;
