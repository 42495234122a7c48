import { load } from "./load.js";

export { AttentionError } from "./error.js";
export { errorCodes, type ErrorCode } from "./error-codes.js";
export { boolTensor, tensor, zeros } from "./tensor.js";
export type * from "./types.js";

export const {
  scaledDotProductAttention,
  softmax,
  masks,
  MultiHeadAttention,
  checkCausality,
  faultyAttention,
  splitHeads,
  mergeHeads,
  rowSums,
  randomNormal,
  moments,
  dotProductMoments,
  cost,
  memoryUsage,
} = await load();
