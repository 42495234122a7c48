import { instance } from "./instance.js";

export { AttentionError } from "./error.js";
export { errorCodes, type ErrorCode } from "./error-codes.js";
export { boolTensor, tensor, zeros } from "./tensor.js";
export type * from "./types.js";

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
  randomNormal,
  moments,
  dotProductMoments,
  cost,
  memoryUsage,
} = instance;
