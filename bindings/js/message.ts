import { lengthOf } from "./typed-array.js";

/**
 * What crosses to the core. No object of a caller's is among it: reading one may run code of the caller's, and take
 * forever.
 */
export type Plain =
  | undefined
  | null
  | boolean
  | number
  | string
  | ArrayBufferView
  | readonly Plain[]
  | { readonly [name: string]: Plain };

/** A caller's value that should be no object; null where it is one, which is as wrong. */
export function scalar(value: unknown): Plain {
  switch (typeof value) {
    case "undefined":
    case "boolean":
    case "number":
    case "string":
      return value;
    default:
      return null;
  }
}

/** A caller's value that should be a list of numbers: those up to the first element that is none. */
export function scalars(value: unknown): Plain {
  if (!Array.isArray(value)) return scalar(value);
  const numbers: number[] = [];
  for (const element of value as unknown[]) {
    numbers.push(typeof element === "number" ? element : NaN);
    if (typeof element !== "number") break;
  }
  return numbers;
}

/** In the order of bindings/value.hpp. */
const Kind = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  number: 4,
  text: 5,
  array: 6,
  list: 7,
  object: 8,
} as const;

/** A value takes 16 bytes. */
const words = 4;
const encoder = new TextEncoder();

/**
 * The arguments of a call, as bindings/value.hpp reads them: each value in 16 bytes, and what it holds further on. Typed
 * arrays stay outside, under their numbers.
 */
export class Message {
  readonly arrays: ArrayBufferView[] = [];
  #words = new Uint32Array(256 * words);
  #numbers = new Float64Array(this.#words.buffer);
  /** Values that are there, or have their place. */
  #used = 0;

  /** What it gives lasts until the next call. */
  write(values: readonly Plain[]): Uint32Array {
    this.#used = 0;
    this.#putList(this.#reserve(1), values);
    return this.#words.subarray(0, this.#used * words);
  }

  /** Lets go of the arrays, and of memory that few messages want. */
  clear(): void {
    this.arrays.length = 0;
    if (this.#words.length > 2 ** 16) this.#take(256 * words);
  }

  #take(size: number): void {
    this.#words = new Uint32Array(size);
    this.#numbers = new Float64Array(this.#words.buffer);
  }

  /** The first of so many places. */
  #reserve(count: number): number {
    const first = this.#used;
    this.#used += count;
    const wanted = this.#used * words;
    if (wanted > this.#words.length) {
      const old = this.#words;
      this.#take(2 * wanted);
      this.#words.set(old);
    }
    return first;
  }

  #describe(at: number, kind: number, size = 0, place = 0): void {
    const word = at * words;
    this.#words[word] = kind;
    this.#words[word + 1] = size;
    this.#words[word + 2] = place;
  }

  #put(at: number, value: Plain): void {
    if (typeof value === "number") {
      this.#describe(at, Kind.number);
      this.#numbers[2 * at + 1] = value;
    } else if (typeof value === "string") {
      this.#putText(at, value);
    } else if (typeof value === "boolean") {
      this.#describe(at, value ? Kind.true : Kind.false);
    } else if (value == null) {
      this.#describe(at, value === null ? Kind.null : Kind.undefined);
    } else if (ArrayBuffer.isView(value)) {
      this.#describe(at, Kind.array, lengthOf(value), this.arrays.push(value) - 1);
    } else if (Array.isArray(value)) {
      this.#putList(at, value as Plain[]);
    } else {
      this.#putObject(at, value as Readonly<Record<string, Plain>>);
    }
  }

  #putText(at: number, text: string): void {
    const most = Math.ceil((3 * text.length) / 16); // UTF-8 takes 3 bytes for what UTF-16 takes 2 for
    const first = this.#reserve(most);
    const { written } = encoder.encodeInto(text, new Uint8Array(this.#words.buffer, first * 16, most * 16));
    this.#describe(at, Kind.text, written, first - at);
  }

  #putList(at: number, values: readonly Plain[]): void {
    const first = this.#reserve(values.length);
    this.#describe(at, Kind.list, values.length, first - at);
    for (let i = 0; i < values.length; i++) this.#put(first + i, values[i]);
  }

  #putObject(at: number, object: Readonly<Record<string, Plain>>): void {
    const names = Object.keys(object);
    const first = this.#reserve(2 * names.length);
    this.#describe(at, Kind.object, names.length, first - at);
    names.forEach((name, i) => {
      this.#putText(first + 2 * i, name);
      this.#put(first + 2 * i + 1, object[name]);
    });
  }
}
