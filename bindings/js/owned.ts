import { AttentionError } from "./error.js";
import type { Raw } from "./raw.js";

const backstop = new FinalizationRegistry<() => void>((release) => {
  release();
});

/** An object of the core, known by its handle: freed by dispose(), or by the collector as a backstop. */
export abstract class Owned implements Disposable {
  readonly #raw: Raw;
  readonly #kind: string;
  readonly #handle: number;
  readonly #free: (handle: number) => void;

  protected constructor(raw: Raw, kind: string, handle: number, free: (handle: number) => void) {
    this.#raw = raw;
    this.#kind = kind;
    this.#handle = handle;
    this.#free = free;
    backstop.register(
      this,
      () => {
        free(handle);
      },
      this,
    );
  }

  /** The handle of `object`, which must be of this kind and instance. @throws AttentionError FOREIGN_OBJECT */
  static handle(object: unknown, raw: Raw, kind: string, name: string): number {
    const owned = Owned.#isOwned(object) ? object : undefined;
    if (!owned || owned.#raw !== raw || owned.#kind !== kind) {
      throw new AttentionError("FOREIGN_OBJECT", `${name} is not a ${kind} of this instance`);
    }
    return owned.#handle;
  }

  /** Methods can be called on anything. */
  static #isOwned(object: unknown): object is Owned {
    return typeof object === "object" && object !== null && #handle in object;
  }

  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void {
    if (!Owned.#isOwned(this)) {
      throw new AttentionError("FOREIGN_OBJECT", "this is not an object of softlookup");
    }
    this.#free(this.#handle);
    backstop.unregister(this);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
