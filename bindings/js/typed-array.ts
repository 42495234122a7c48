// What a typed array is, whatever it says of itself: a subclass may name another length, or bring a `set` of its own,
// which would run a caller's code on the core's memory.

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

const getterOf = <Result>(name: "length" | typeof Symbol.toStringTag) =>
  Reflect.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => Result;

const tag = getterOf<string | undefined>(Symbol.toStringTag);
const length = getterOf<number>("length");

/** "Float32Array", …; undefined for what is no typed array. */
export const arrayKindOf = (value: unknown): string | undefined => tag.call(value);

/** 0 once its buffer was detached. */
export const lengthOf = (array: ArrayBufferView): number => length.call(array);

/** Puts `from`, whole, into `to` from `at` on. */
export const copyInto = (to: ArrayBufferView, from: ArrayBufferView, at = 0): void => {
  prototype.set.call(to as Uint8Array, from as Uint8Array, at);
};
