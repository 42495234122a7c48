import { AttentionError } from "./error.js";
import type { RawMask, RawPositions, RawTensor } from "./raw.js";
import type {
  BoolTensor,
  MaskLike,
  NestedBooleans,
  NestedNumbers,
  Positions,
  Tensor,
  TensorLike,
} from "./types.js";
import { arrayKindOf } from "./typed-array.js";

/** A tensor of nested arrays of numbers. @throws AttentionError DTYPE, SHAPE */
export function tensor(nested: NestedNumbers): Tensor {
  const { elements, shape } = flatten(nested, "nested");
  return { data: floats(elements, "nested"), shape };
}

/** A boolean tensor of nested arrays of booleans. @throws AttentionError DTYPE, SHAPE */
export function boolTensor(nested: NestedBooleans): BoolTensor {
  const { elements, shape } = flatten(nested, "nested");
  return { data: booleans(elements, "nested"), shape };
}

/** @throws AttentionError SHAPE, OUT_OF_MEMORY */
export function zeros(shape: readonly number[]): Tensor {
  const sizes = checkedShape(shape, "shape");
  const elements = sizes.reduce((product, size) => product * size, 1);
  try {
    return { data: new Float32Array(elements), shape: sizes };
  } catch (cause) {
    throw new AttentionError("OUT_OF_MEMORY", `shape [${sizes.join(", ")}] does not fit into memory`, {
      cause,
    });
  }
}

/** What `name` holds as float32, for the adapters. @throws AttentionError DTYPE, SHAPE */
export function toRawTensor(input: TensorLike, name: string): RawTensor {
  const array: unknown = input;
  if (typeof array === "number" || Array.isArray(array)) {
    const { elements, shape } = flatten(array, name);
    return { data: floats(elements, name), shape };
  }
  const { data, shape } = held(array, name);
  return { data: floats(data, name), shape };
}

/** Positions, for the adapters: in double precision, since float32 ends at 2²⁴. @throws AttentionError DTYPE, SHAPE */
export function toRawPositions(input: Positions, name: string): number | RawPositions {
  const array: unknown = input;
  if (typeof array === "number") {
    return array;
  }
  if (Array.isArray(array)) {
    const { elements, shape } = flatten(array, name);
    return { data: doubles(elements, name), shape };
  }
  const { data, shape } = held(array, name);
  return { data: doubles(data, name), shape };
}

/** Names and tensors of a state dict, for the adapters. @throws AttentionError DTYPE, SHAPE, STATE_DICT */
export function toRawState(state: Readonly<Record<string, TensorLike>>): [string[], RawTensor[]] {
  if (typeof state !== "object" || (state as unknown) === null) {
    throw new AttentionError("STATE_DICT", `state must be an object of tensors, not ${kindOf(state)}`);
  }
  const entries = Object.entries(state);
  return [entries.map(([name]) => name), entries.map(([name, value]) => toRawTensor(value, name))];
}

/** A caller's array to write into. @throws AttentionError DTYPE */
export function toOut(out: unknown): Float32Array {
  if (kindOf(out) !== "Float32Array") {
    throw new AttentionError("DTYPE", `out: expected a Float32Array, not ${kindOf(out)}`);
  }
  return out as Float32Array;
}

/** What a mask holds, for the adapters. @throws AttentionError DTYPE, SHAPE */
export function toRawMask(input: MaskLike, name: string): RawMask {
  const array: unknown = input;
  if (typeof array === "boolean" || Array.isArray(array)) {
    const { elements, shape } = flatten(array, name);
    return { boolean: true, data: booleans(elements, name), shape };
  }
  const { data, shape } = held(array, name);
  switch (kindOf(data)) {
    case "Uint8Array":
      return { boolean: true, data: data as Uint8Array, shape };
    case "Float32Array":
      return { boolean: false, data: data as Float32Array, shape };
    default:
      throw new AttentionError(
        "DTYPE",
        `${name}: expected a Uint8Array or booleans (true = may attend) or a Float32Array (added), not ${kindOf(data)}`,
      );
  }
}

/** "Float32Array", "Array", "Undefined", …; also right for objects of another frame. */
function kindOf(value: unknown): string {
  const kind = arrayKindOf(value) ?? Object.prototype.toString.call(value).slice("[object ".length, -1);
  // An object may call itself what it likes; only an array is read like one.
  return kind.endsWith("Array") && !arrayKindOf(value) && !Array.isArray(value) ? "Object" : kind;
}

/** The data and shape of a bare typed array or of an object that carries both. */
function held(holder: unknown, name: string): { data: unknown; shape: number[] } {
  if (ArrayBuffer.isView(holder)) {
    return { data: holder, shape: [(holder as Float32Array).length] };
  }
  if (typeof holder !== "object" || holder === null || !("data" in holder)) {
    throw new AttentionError("DTYPE", `${name}: expected a tensor, not ${kindOf(holder)}`);
  }
  const sizes = "shape" in holder ? holder.shape : "dims" in holder ? holder.dims : undefined;
  const shape = checkedShape(sizes, `${name}.shape`);
  return { data: inCOrder(holder, shape, name), shape };
}

function checkedShape(shape: unknown, name: string): number[] {
  const sizes: unknown[] =
    Array.isArray(shape) || ArrayBuffer.isView(shape) ? Array.from(shape as []) : [NaN];
  if (!sizes.every((size) => Number.isInteger(size) && (size as number) >= 0)) {
    throw new AttentionError("SHAPE", `${name}: expected an array of whole numbers, 0 or more`);
  }
  return sizes as number[];
}

/** scijs ndarrays carry strides: only rows one after the other can be taken as they are. */
function inCOrder(
  holder: { data?: unknown; stride?: unknown; offset?: unknown },
  shape: number[],
  name: string,
) {
  const { data, stride, offset } = holder;
  if (!Array.isArray(stride)) {
    return data;
  }
  let expected = 1;
  const ordered = shape.every((_, index) => {
    const axis = shape.length - 1 - index;
    const fits = stride[axis] === expected || shape[axis] === 1;
    expected *= shape[axis] ?? 0;
    return fits;
  });
  if (!ordered) {
    throw new AttentionError(
      "SHAPE",
      `${name} [${shape.join(", ")}]: strides [${stride.join(", ")}] are not C order; copy it first`,
    );
  }
  const start = typeof offset === "number" ? offset : 0;
  return (data as Float32Array).slice(start, start + expected);
}

function floats(data: unknown, name: string): Float32Array {
  switch (kindOf(data)) {
    case "Float32Array":
      return data as Float32Array;
    case "Float64Array":
      return Float32Array.from(data as Float64Array);
    case "Array":
      requireAll(data as unknown[], "number", name);
      return Float32Array.from(data as number[]);
    default:
      throw new AttentionError(
        "DTYPE",
        `${name}: expected a Float32Array, a Float64Array or numbers, not ${kindOf(data)}`,
      );
  }
}

function doubles(data: unknown, name: string): Float64Array {
  switch (kindOf(data)) {
    case "Int32Array":
    case "Uint32Array":
    case "Float64Array":
      return Float64Array.from(data as Int32Array);
    case "BigInt64Array":
      return Float64Array.from(data as BigInt64Array, Number);
    case "Array":
      requireAll(data as unknown[], "number", name);
      return Float64Array.from(data as number[]);
    default:
      throw new AttentionError(
        "DTYPE",
        `${name}: expected an Int32Array, a BigInt64Array, a Float64Array or numbers, not ${kindOf(data)}`,
      );
  }
}

function booleans(elements: unknown[], name: string): Uint8Array {
  requireAll(elements, "boolean", name);
  return Uint8Array.from(elements as boolean[], Number);
}

function requireAll(elements: readonly unknown[], type: "number" | "boolean", name: string): void {
  for (let i = 0; i < elements.length; i++) {
    if (typeof elements[i] !== type) {
      throw new AttentionError("DTYPE", `${name}: element ${i} is ${kindOf(elements[i])}, not a ${type}`);
    }
  }
}

/** Elements in row-major order, and the shape that the nesting has. */
function flatten(nested: unknown, name: string): { elements: unknown[]; shape: number[] } {
  const shape: number[] = [];
  for (let level = nested; Array.isArray(level); level = level[0]) {
    shape.push(level.length);
  }
  const elements: unknown[] = [];
  const visit = (value: unknown, axis: number): void => {
    if (axis === shape.length) {
      if (Array.isArray(value)) {
        throw ragged(name, shape);
      }
      elements.push(value);
      return;
    }
    if (!Array.isArray(value) || value.length !== shape[axis]) {
      throw ragged(name, shape);
    }
    for (let i = 0; i < value.length; i++) {
      visit(value[i], axis + 1);
    }
  };
  visit(nested, 0);
  return { elements, shape };
}

function ragged(name: string, shape: readonly number[]): AttentionError {
  return new AttentionError(
    "SHAPE",
    `${name}: rows of different lengths; the first ones say [${shape.join(", ")}]`,
  );
}
