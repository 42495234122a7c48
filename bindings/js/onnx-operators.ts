import { renaming } from "./error.js";
import type { Plain } from "./message.js";
import { requireKnown, toRawOptions } from "./options.js";
import type { Raw, RawOptions } from "./raw.js";
import { toRawMask, toRawPositions, toRawTensor } from "./tensor.js";
import type {
  MaskLike,
  OnnxAttentionAttributes,
  OnnxOperators,
  OnnxRMSNormalizationAttributes,
  OnnxRotaryEmbeddingAttributes,
  Positions,
  TensorLike,
} from "./types.js";

/** ONNX's operators over one instance of the core. */
export function onnxOver(raw: Raw): OnnxOperators {
  return {
    Attention: (inputs, attributes) =>
      renaming({ q: "Q", k: "K", v: "V", mask: "attn_mask" }, () =>
        raw.onnxAttention(toRawInputs(inputs, attentionInputs), toRawOptions(attributes, attention)),
      ),
    RotaryEmbedding: (inputs, attributes) =>
      raw.onnxRotaryEmbedding(toRawInputs(inputs, rotaryInputs), toRawOptions(attributes, rotary)),
    RMSNormalization: (inputs, attributes) =>
      raw.onnxRmsNormalization(toRawInputs(inputs, normInputs), toRawOptions(attributes, norm)),
  };
}

const attention = [
  "is_causal",
  "scale",
  "softcap",
  "q_num_heads",
  "kv_num_heads",
  "left_window_size",
  "right_window_size",
  "qk_matmul_output_mode",
  "softmax_precision",
] as const satisfies readonly (keyof OnnxAttentionAttributes)[];

const rotary = [
  "interleaved",
  "num_heads",
  "rotary_embedding_dim",
] as const satisfies readonly (keyof OnnxRotaryEmbeddingAttributes)[];

const norm = [
  "axis",
  "epsilon",
  "stash_type",
] as const satisfies readonly (keyof OnnxRMSNormalizationAttributes)[];

/** How each input goes to the adapters, and whether it may be left out. */
interface Input {
  toRaw: (value: unknown, name: string) => Plain;
  optional?: boolean;
}

const tensor: Input = { toRaw: (value, name) => toRawTensor(value as TensorLike, name) };
const integers: Input = { toRaw: (value, name) => toRawPositions(value as Positions, name), optional: true };

const attentionInputs: Readonly<Record<string, Input>> = {
  Q: tensor,
  K: tensor,
  V: tensor,
  attn_mask: { toRaw: (value, name) => toRawMask(value as MaskLike, name), optional: true },
  past_key: { ...tensor, optional: true },
  past_value: { ...tensor, optional: true },
  nonpad_kv_seqlen: integers,
};

const rotaryInputs: Readonly<Record<string, Input>> = {
  input: tensor,
  cos_cache: tensor,
  sin_cache: tensor,
  position_ids: integers,
};

const normInputs: Readonly<Record<string, Input>> = { X: tensor, scale: tensor };

/** @throws AttentionError OPTION for an unknown input, DTYPE for a missing one */
function toRawInputs(given: object, known: Readonly<Record<string, Input>>): RawOptions {
  requireKnown(given, Object.keys(known));
  const values = given as Readonly<Record<string, unknown>>;
  const present = Object.entries(known).filter(([name, { optional }]) => !optional || values[name] != null);
  return Object.fromEntries(present.map(([name, { toRaw }]) => [name, toRaw(values[name], name)]));
}
