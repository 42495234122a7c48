import { cacheHandle } from "./kv-cache.js";
import { toRawOptions } from "./options.js";
import { Owned } from "./owned.js";
import type { Raw, RawOptions } from "./raw.js";
import { toRawState, toRawTensor } from "./tensor.js";
import type {
  AttentionResult,
  GroupedQueryAttention,
  GroupedQueryAttentionConfig,
  GroupedQueryAttentionConstructor,
  GroupedQueryCallOptions,
  GroupedQueryOptions,
  GroupedQueryStep,
  TensorLike,
  Trace,
} from "./types.js";

/** The class over one instance of the core. */
export function groupedQueryAttentionOver(raw: Raw): GroupedQueryAttentionConstructor {
  const kind = "GroupedQueryAttention";

  return class extends Owned implements GroupedQueryAttention {
    readonly hiddenSize: number;
    readonly numHeads: number;
    readonly numKvHeads: number;
    readonly headDim: number;
    readonly parameterCount: number;

    constructor(config: GroupedQueryAttentionConfig) {
      const created = raw.createGroupedQuery(
        toRawOptions(config, ["hiddenSize", "numHeads", "numKvHeads", "headDim", "qkNorm", "rope", "bias"]),
      );
      super(raw, kind, created.handle, (handle) => raw.freeGroupedQuery(handle));
      this.hiddenSize = created.hiddenSize;
      this.numHeads = created.numHeads;
      this.numKvHeads = created.numKvHeads;
      this.headDim = created.headDim;
      this.parameterCount = created.parameterCount;
    }

    loadStateDict(state: Readonly<Record<string, TensorLike>>): void {
      raw.loadGroupedQuery(Owned.handle(this, raw, kind, "this"), ...toRawState(state));
    }

    forward(x: TensorLike, options?: GroupedQueryCallOptions): AttentionResult {
      return raw.attendGroupedQuery(
        Owned.handle(this, raw, kind, "this"),
        toRawTensor(x, "x"),
        toRawCall(raw, options, ["needWeights", "fast"]),
      );
    }

    trace(x: TensorLike, options?: GroupedQueryOptions): Trace<GroupedQueryStep> {
      return raw.traceGroupedQuery(
        Owned.handle(this, raw, kind, "this"),
        toRawTensor(x, "x"),
        toRawCall(raw, options, []),
      ) as Trace<GroupedQueryStep>;
    }
  };
}

function toRawCall(
  raw: Raw,
  options: GroupedQueryCallOptions | undefined,
  more: readonly (keyof GroupedQueryCallOptions & string)[],
): RawOptions {
  const known = ["causal", "keyMask", "cache", "positions", "lengths", "side", ...more] as const;
  return toRawOptions(options, known, undefined, { cache: (cache) => cacheHandle(raw, cache) });
}
