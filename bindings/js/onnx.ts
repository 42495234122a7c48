// ONNX's operators of attention by their own names and rules, opset 23 to 25.

import { instance } from "./instance.js";

export { AttentionError } from "./error.js";
export type {
  MaskLike,
  OnnxAttentionAttributes,
  OnnxAttentionInputs,
  OnnxAttentionOutputs,
  OnnxRMSNormalizationAttributes,
  OnnxRotaryEmbeddingAttributes,
  OnnxRotaryEmbeddingInputs,
  Tensor,
  TensorLike,
} from "./types.js";

export const { Attention, RotaryEmbedding, RMSNormalization } = instance.onnx;
