import type { ErrorCode } from "./error-codes.js";
import { AttentionError } from "./error.js";
import { Message, type Plain } from "./message.js";
import { copyInto } from "./typed-array.js";

/** Takes the place of a message; answers whether it did not fail. If it did, it gave a code and what went wrong. */
type Adapter = (message: number) => boolean;

/** What Emscripten's module has of bindings/embind.cpp, and more. */
export interface Exports {
  /** Where a message of so many bytes may be written until the next call of this; 0 where there is not so much memory. */
  messageRoom(bytes: number): number;
  readonly [name: string]: unknown;
}

const types = { 1: Uint8Array, 4: Float32Array, 8: Float64Array } as const;
const decoder = new TextDecoder();

/**
 * Where calls of an instance cross to the core and back: the arguments as a message in its memory, the answer piece by
 * piece, as bindings/answer.hpp gives them. Nothing that crosses is a view of the memory.
 */
export class Border {
  readonly #memory: () => WebAssembly.Memory;
  readonly #message = new Message();
  /** What was given of an answer so far. */
  readonly #given: unknown[] = [];
  /** Why something could not be copied: thrown through the core, it would leave memory behind. */
  #failure: unknown;
  /** Names of properties, by the address where the core keeps them. */
  readonly #names = new Map<number, readonly string[]>();

  constructor(memory: () => WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** The adapters of a module's exports, to be called with their arguments. They throw AttentionError. */
  over({ messageRoom, ...exports }: Exports): Record<string, (...values: Plain[]) => unknown> {
    const adapters = Object.entries(exports).filter(
      (entry): entry is [string, Adapter] => typeof entry[1] === "function" && !entry[0].startsWith("_"),
    );
    return Object.fromEntries(
      adapters.map(([name, adapter]) => [name, (...values) => this.#call(adapter, messageRoom, values)]),
    );
  }

  #call(adapter: Adapter, roomFor: Exports["messageRoom"], values: readonly Plain[]): unknown {
    try {
      const words = this.#message.write(values);
      const room = roomFor(words.byteLength);
      if (room === 0) {
        throw new AttentionError("OUT_OF_MEMORY", "the WebAssembly memory cannot grow any further");
      }
      new Uint32Array(this.#memory().buffer, room, words.length).set(words);
      const done = adapter(room);
      if (this.#failure !== undefined) throw this.#failure;
      const last = this.#given.pop();
      if (!done) throw new AttentionError(this.#given.pop() as ErrorCode, last as string);
      return last;
    } finally {
      this.#given.length = 0;
      this.#failure = undefined;
      this.#message.clear();
      roomFor(0);
    }
  }

  // What the core calls. None of it throws.

  /** Copies an array of the message to where it has room for so many elements of so many bytes. */
  take(array: number, to: number, count: number, width: keyof typeof types): void {
    this.#copy(() => {
      copyInto(this.#view(to, count, width), this.#message.arrays[array] as ArrayBufferView);
    });
  }

  nothing(): void {
    this.#given.push(undefined);
  }

  number(number: number): void {
    this.#given.push(number);
  }

  flag(flag: number): void {
    this.#given.push(flag !== 0);
  }

  text(at: number, length: number): void {
    this.#given.push(this.#text(at, length));
  }

  array(at: number, count: number, width: keyof typeof types): void {
    this.#given.push(this.#copy(() => this.#view(at, count, width).slice()));
  }

  into(out: number, at: number, count: number): void {
    const array = this.#message.arrays[out] as ArrayBufferView;
    this.#copy(() => {
      copyInto(array, this.#view(at, count, 4));
    });
    this.#given.push(array);
  }

  list(count: number): void {
    this.#given.push(this.#given.splice(this.#given.length - count));
  }

  object(at: number): void {
    let names = this.#names.get(at);
    if (!names) {
      const end = new Uint8Array(this.#memory().buffer).indexOf(0, at);
      names = this.#text(at, end - at).split(" ");
      this.#names.set(at, names);
    }
    const first = this.#given.length - names.length;
    const object: Record<string, unknown> = {};
    names.forEach((name, i) => {
      const value = this.#given[first + i];
      if (value !== undefined) object[name] = value;
    });
    this.#given.length = first;
    this.#given.push(object);
  }

  /** Nothing where it fails, which the call will say. */
  #copy<Result>(copying: () => Result): Result | undefined {
    try {
      return copying();
    } catch (error) {
      this.#failure ??= error;
      return undefined;
    }
  }

  #text(at: number, length: number): string {
    return decoder.decode(this.#view(at, length, 1));
  }

  #view(at: number, count: number, width: keyof typeof types) {
    return new types[width](this.#memory().buffer, at, count);
  }
}
