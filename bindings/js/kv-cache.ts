import { scalar } from "./message.js";
import { toRawOptions } from "./options.js";
import { Owned } from "./owned.js";
import type { Raw } from "./raw.js";
import { toRawTensor } from "./tensor.js";
import type { CacheChunk, KVCache, KVCacheConfig, KVCacheConstructor, TensorLike } from "./types.js";

const kind = "KVCache";

/** The handle of a cache given as an option. @throws AttentionError FOREIGN_OBJECT */
export function cacheHandle(raw: Raw, cache: unknown): number {
  return Owned.handle(cache, raw, kind, "cache");
}

/** The class over one instance of the core. */
export function kvCacheOver(raw: Raw): KVCacheConstructor {
  const held = (cache: unknown) => raw.cacheLengths(Owned.handle(cache, raw, kind, "this"));

  return class extends Owned implements KVCache {
    constructor(config: KVCacheConfig) {
      const known = ["batch", "numKvHeads", "headDim", "capacity"] as const;
      const handle = raw.createKvCache(toRawOptions(config, known));
      super(raw, kind, handle, (freed) => raw.freeKvCache(freed));
    }

    get lengths(): readonly number[] {
      return held(this).lengths;
    }

    get length(): number {
      return Math.max(...held(this).lengths);
    }

    get capacity(): number {
      return held(this).capacity;
    }

    append(k: TensorLike, v: TensorLike, chunk?: CacheChunk): void {
      raw.appendToCache(
        Owned.handle(this, raw, kind, "this"),
        toRawTensor(k, "k"),
        toRawTensor(v, "v"),
        toRawOptions(chunk, ["lengths", "side"]),
      );
    }

    dropOldest(count: number): void {
      raw.dropOldestOfCache(Owned.handle(this, raw, kind, "this"), scalar(count));
    }

    grow(capacity: number): void {
      raw.growCache(Owned.handle(this, raw, kind, "this"), scalar(capacity));
    }

    reset(): void {
      raw.resetCache(Owned.handle(this, raw, kind, "this"));
    }
  };
}
