import { cacheHandle } from "./kv-cache.js";
import { requireKnown, toRawOptions } from "./options.js";
import { Owned } from "./owned.js";
import { unwrap, type Raw, type RawOptions } from "./raw.js";
import { toRawRope } from "./rope.js";
import { toRawPositions, toRawState, toRawTensor } from "./tensor.js";
import type {
  AttentionResult,
  GroupedQueryAttention,
  GroupedQueryAttentionConfig,
  GroupedQueryAttentionConstructor,
  GroupedQueryCallOptions,
  GroupedQueryOptions,
  GroupedQueryStep,
  Positions,
  RopeConfig,
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
      const created = unwrap(raw.createGroupedQuery(toRawConfig(config)));
      super(raw, kind, created.handle, (handle) => raw.freeGroupedQuery(handle));
      this.hiddenSize = created.hiddenSize;
      this.numHeads = created.numHeads;
      this.numKvHeads = created.numKvHeads;
      this.headDim = created.headDim;
      this.parameterCount = created.parameterCount;
    }

    loadStateDict(state: Readonly<Record<string, TensorLike>>): void {
      unwrap(raw.loadGroupedQuery(Owned.handle(this, raw, kind, "this"), ...toRawState(state)));
    }

    forward(x: TensorLike, options?: GroupedQueryCallOptions): AttentionResult {
      return unwrap(
        raw.attendGroupedQuery(
          Owned.handle(this, raw, kind, "this"),
          toRawTensor(x, "x"),
          toRawCall(raw, options, ["needWeights", "fast"]),
        ),
      );
    }

    trace(x: TensorLike, options?: GroupedQueryOptions): Trace<GroupedQueryStep> {
      return unwrap(
        raw.traceGroupedQuery(
          Owned.handle(this, raw, kind, "this"),
          toRawTensor(x, "x"),
          toRawCall(raw, options, []),
        ),
      ) as Trace<GroupedQueryStep>;
    }
  };
}

function toRawConfig(config: GroupedQueryAttentionConfig): RawOptions {
  const { rope, qkNorm, ...rest } = toRawOptions(config, [
    "hiddenSize",
    "numHeads",
    "numKvHeads",
    "headDim",
    "qkNorm",
    "rope",
    "bias",
  ]);
  if (qkNorm !== undefined && typeof qkNorm !== "boolean") {
    requireKnown(qkNorm, ["eps"], "qkNorm");
  }
  return {
    ...rest,
    qkNorm,
    rope:
      rope === undefined || rope === false
        ? undefined
        : toRawRope(rope as RopeConfig, ["layout", "theta", "dims", "scaling"], "rope"),
  };
}

function toRawCall(
  raw: Raw,
  options: GroupedQueryCallOptions | undefined,
  more: readonly (keyof GroupedQueryCallOptions & string)[],
): RawOptions {
  const { cache, positions, ...rest } = toRawOptions(options, [
    "causal",
    "keyMask",
    "cache",
    "positions",
    "lengths",
    "side",
    ...more,
  ]);
  return {
    ...rest,
    cache: cache === undefined ? undefined : cacheHandle(raw, cache),
    positions: positions === undefined ? undefined : toRawPositions(positions as Positions, "positions"),
  };
}
