import { toRawOptions } from "./options.js";
import { Owned } from "./owned.js";
import type { Raw } from "./raw.js";
import { toRawState, toRawTensor } from "./tensor.js";
import type {
  AttentionResult,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionConstructor,
  MultiHeadCallOptions,
  MultiHeadOptions,
  MultiHeadStep,
  TensorLike,
  Trace,
} from "./types.js";

/** The class over one instance of the core. */
export function multiHeadAttentionOver(raw: Raw): MultiHeadAttentionConstructor {
  const kind = "MultiHeadAttention";

  return class extends Owned implements MultiHeadAttention {
    readonly config: Required<MultiHeadAttentionConfig>;
    readonly parameterCount: number;

    constructor(config: MultiHeadAttentionConfig) {
      const created = raw.createMultiHead(
        toRawOptions(config, ["embedDim", "numHeads", "bias", "kdim", "vdim", "addBiasKv", "addZeroAttn"]),
      );
      super(raw, kind, created.handle, (handle) => raw.freeMultiHead(handle));
      this.config = created.config;
      this.parameterCount = created.parameterCount;
    }

    loadStateDict(state: Readonly<Record<string, TensorLike>>): void {
      raw.loadMultiHead(Owned.handle(this, raw, kind, "this"), ...toRawState(state));
    }

    forward(
      query: TensorLike,
      key: TensorLike,
      value: TensorLike,
      options?: MultiHeadCallOptions,
    ): AttentionResult {
      return raw.attendMultiHead(
        Owned.handle(this, raw, kind, "this"),
        toRawTensor(query, "query"),
        toRawTensor(key, "key"),
        toRawTensor(value, "value"),
        toRawOptions(options, ["mask", "keyMask", "causal", "needWeights", "averageWeights", "headByHead"]),
      );
    }

    trace(
      query: TensorLike,
      key: TensorLike,
      value: TensorLike,
      options?: MultiHeadOptions,
    ): Trace<MultiHeadStep> {
      return raw.traceMultiHead(
        Owned.handle(this, raw, kind, "this"),
        toRawTensor(query, "query"),
        toRawTensor(key, "key"),
        toRawTensor(value, "value"),
        toRawOptions(options, ["mask", "keyMask", "causal"]),
      ) as Trace<MultiHeadStep>;
    }
  };
}
