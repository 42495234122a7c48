import { AttentionError } from "./error.js";
import { toRawOptions } from "./options.js";
import { unwrap, type Raw } from "./raw.js";
import { toRawTensor } from "./tensor.js";
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
  const backstop = new FinalizationRegistry<number>((handle) => {
    raw.freeMultiHead(handle);
  });

  return class implements MultiHeadAttention {
    readonly config: Required<MultiHeadAttentionConfig>;
    readonly parameterCount: number;
    readonly #handle: number;

    constructor(config: MultiHeadAttentionConfig) {
      const created = unwrap(
        raw.createMultiHead(
          toRawOptions(config, ["embedDim", "numHeads", "bias", "kdim", "vdim", "addBiasKv", "addZeroAttn"]),
        ),
      );
      this.config = created.config;
      this.parameterCount = created.parameterCount;
      this.#handle = created.handle;
      backstop.register(this, created.handle, this);
    }

    loadStateDict(state: Readonly<Record<string, TensorLike>>): void {
      const names = Object.keys(state);
      const tensors = Object.entries(state).map(([name, value]) => toRawTensor(value, name));
      unwrap(raw.loadMultiHead(this.#own(), names, tensors));
    }

    forward(
      query: TensorLike,
      key: TensorLike,
      value: TensorLike,
      options?: MultiHeadCallOptions,
    ): AttentionResult {
      return unwrap(
        raw.attendMultiHead(
          this.#own(),
          toRawTensor(query, "query"),
          toRawTensor(key, "key"),
          toRawTensor(value, "value"),
          toRawOptions(options, ["mask", "keyMask", "causal", "needWeights", "averageWeights"]),
        ),
      );
    }

    trace(
      query: TensorLike,
      key: TensorLike,
      value: TensorLike,
      options?: MultiHeadOptions,
    ): Trace<MultiHeadStep> {
      return unwrap(
        raw.traceMultiHead(
          this.#own(),
          toRawTensor(query, "query"),
          toRawTensor(key, "key"),
          toRawTensor(value, "value"),
          toRawOptions(options, ["mask", "keyMask", "causal"]),
        ),
      ) as Trace<MultiHeadStep>;
    }

    dispose(): void {
      raw.freeMultiHead(this.#own());
      backstop.unregister(this);
    }

    [Symbol.dispose](): void {
      this.dispose();
    }

    #own(): number {
      if (!(#handle in this)) {
        throw new AttentionError("FOREIGN_OBJECT", "this is not a MultiHeadAttention of this instance");
      }
      return this.#handle;
    }
  };
}
