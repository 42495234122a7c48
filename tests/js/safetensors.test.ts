// Tensors out of a safetensors file, and every way in which a file can be none.

import { describe, expect, test } from "vitest";
import { MultiHeadAttention, memoryUsage } from "softlookup";
import { AttentionError, readSafetensors } from "softlookup/safetensors";
import {
  caught,
  expectError,
  expectTensor,
  flat,
  identityState,
  leavesNothingAlive,
  numbers,
} from "./support.js";
import { table, untyped, type Case } from "./tables.js";

leavesNothingAlive();

type Header = Record<string, unknown>;

/** A file: the header as JSON (or as it stands), then the data. */
function fileOf(
  header: Header | string | Uint8Array,
  data: ArrayLike<number> = [],
  length?: number,
): Uint8Array {
  const text = typeof header === "string" || header instanceof Uint8Array ? header : JSON.stringify(header);
  const json = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length ?? json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

const entry = (dtype: string, shape: readonly number[], begin: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

function bytesOf(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  values.forEach((value, i) => new DataView(bytes.buffer).setFloat32(4 * i, value, true));
  return bytes;
}

/** The patterns one after the other, low byte first. */
function halves(patterns: ArrayLike<number>): Uint8Array {
  return Uint8Array.from(
    { length: 2 * patterns.length },
    (_, i) => ((patterns[i >> 1] as number) >> (8 * (i % 2))) & 255,
  );
}

const bitsOf = (data: Float32Array) => new Uint32Array(data.slice().buffer);

/** x [2, 3] of float32, h [2] of float16, b [] of bfloat16, none [0, 4]. */
const good = fileOf(
  {
    b: entry("BF16", [], 28, 30),
    __metadata__: { format: "pt", 'a "quoted" name': '{"x": [1]}' },
    h: entry("F16", [2], 24, 28),
    none: entry("F32", [0, 4], 24, 24),
    x: entry("F32", [2, 3], 0, 24),
  },
  [...bytesOf(1, -2, 0.1, NaN, -Infinity, 1e-45), ...halves([0x3c00, 0xc000, 0x4049])],
);

function expectGood(bytes: Uint8Array | ArrayBuffer = good): void {
  const file = readSafetensors(bytes);
  expectTensor(file.tensor("x"), [2, 3], [1, -2, 0.1, NaN, -Infinity, 1e-45], { abs: 1e-8, rel: 0 });
  expectTensor(file.tensor("h"), [2], [1, -2]);
  expectTensor(file.tensor("b"), [], [3.140625]);
  expectTensor(file.tensor("none"), [0, 4], []);
}

describe("a good file", () => {
  test("names, metadata and tensors", () => {
    const file = readSafetensors(good);
    expect(file.names).toEqual(["x", "none", "h", "b"]);
    expect(file.metadata).toEqual({ format: "pt", 'a "quoted" name': '{"x": [1]}' });
    expectGood();
    expect(bitsOf(file.tensor("x").data)[5]).toBe(1); // the smallest subnormal
  });

  test("as an ArrayBuffer, at any byte offset, and in a buffer of another kind", () => {
    expectGood(good.slice().buffer);
    for (let offset = 0; offset < 9; offset++) {
      const backing = new Uint8Array(good.length + offset + 3).fill(255);
      backing.set(good, offset);
      expectGood(backing.subarray(offset, offset + good.length));
    }
    // Not in every browser: pages must ask for shared memory.
    if (typeof SharedArrayBuffer !== "undefined") {
      const shared = new Uint8Array(new SharedArrayBuffer(good.length));
      shared.set(good);
      expectGood(shared);
      expect(readSafetensors(shared).tensor("x").data.buffer).toBeInstanceOf(ArrayBuffer);
    }
    // A Buffer's own slice would not copy.
    const { Buffer } = globalThis as { Buffer?: { from(bytes: Uint8Array): Uint8Array } };
    if (Buffer !== undefined) {
      const buffer = Buffer.from(good);
      expectGood(buffer);
      const { data } = readSafetensors(buffer).tensor("x");
      buffer.fill(0);
      expect(data[0]).toBe(1);
    }
  });

  test("every tensor is the caller's own", () => {
    const bytes = good.slice();
    const file = readSafetensors(bytes);
    const first = file.tensor("x");
    first.data.fill(7);
    (first.shape as number[])[0] = 9;
    expectTensor(file.tensor("h"), [2], [1, -2]);
    expect(file.tensor("x").shape).toEqual([2, 3]);
    expect(file.tensor("x").data[0]).toBe(1);
    expect(first.data.buffer.byteLength).toBe(24);
  });

  test("no tensor at all, whitespace around the header's parts, padding after it", () => {
    expect(readSafetensors(fileOf({})).names).toEqual([]);
    expect(readSafetensors(fileOf({ __metadata__: {} })).metadata).toEqual({});
    const spaced = '{ "x" :\n{"dtype":"F32" , "shape" : [ 1 ],"data_offsets":[0,\t4] } }      ';
    expectTensor(readSafetensors(fileOf(spaced, bytesOf(5))).tensor("x"), [1], [5]);
  });

  test("names of any kind", () => {
    const names = ["__proto__", "constructor", "层.0", '"', "\\", "", "\ud83d\ude00", "dtype"];
    const header = `{${names.map((name, i) => `${JSON.stringify(name)}:${JSON.stringify(entry("F32", [1], 4 * i, 4 * i + 4))}`).join()}}`;
    const file = readSafetensors(fileOf(header, bytesOf(...names.keys())));
    expect(file.names).toEqual(names);
    names.forEach((name, i) => expectTensor(file.tensor(name), [1], [i]));
    expect(Object.keys(file.tensors()).sort()).toEqual([...names].sort());
    expectError(() => file.tensor("toString"), "STATE_DICT", /"toString"/);
  });

  test("tensors with a prefix lose it, so that loadStateDict takes them", () => {
    const state = identityState(2);
    const data = Object.values(state).flatMap((tensor) => numbers(tensor as { data: Float32Array }));
    const file = readSafetensors(
      fileOf(
        {
          "layers.0.attn.in_proj_weight": entry("F32", [6, 2], 0, 48),
          "layers.0.attn.out_proj.weight": entry("F32", [2, 2], 48, 64),
          "layers.1.attn.other": entry("I64", [1], 64, 72),
        },
        [...bytesOf(...data), 0, 0, 0, 0, 0, 0, 0, 0],
      ),
    );
    const attention = new MultiHeadAttention({ embedDim: 2, numHeads: 2, bias: false });
    try {
      attention.loadStateDict(file.tensors("layers.0.attn."));
      const x = [[1, 2], [3, -1]]; // prettier-ignore
      expectTensor(attention.forward(x, x, x).output, [2, 2], [2.761594, 1.992582, 2.995055, -0.857722]);
    } finally {
      attention.dispose();
    }
    expect(file.tensors("layers.2.")).toEqual({});
  });

  test("another type is known, but not read", () => {
    const file = readSafetensors(
      fileOf(
        { positions: entry("I64", [2], 0, 16), x: entry("F32", [1], 16, 20), four: entry("F4", [6], 20, 23) },
        [...new Uint8Array(16), ...bytesOf(5), 0, 0, 0],
      ),
    );
    expectTensor(file.tensor("x"), [1], [5]);
    expectError(() => file.tensor("positions"), "DTYPE", /"positions".*I64.*F32, F16 and BF16/);
    expectError(() => file.tensors(), "DTYPE", /"positions"/);
    expectError(() => file.tensor("four"), "DTYPE", /"four".*F4/);
    expectTensor(file.tensors("x")[""] as never, [1], [5]);
  });

  test("bytes that were transferred away", () => {
    const bytes = good.slice();
    const file = readSafetensors(bytes);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    for (const name of ["x", "h", "b"]) {
      expectError(() => file.tensor(name), "DTYPE", RegExp(`"${name}".*detached`));
    }
    expectError(() => readSafetensors(bytes), "FORMAT", /0 bytes/);
    expectError(() => readSafetensors(bytes.buffer), "FORMAT", /0 bytes/);
  });
});

describe("half precision: all 65536 patterns", () => {
  const patterns = Uint16Array.from({ length: 65536 }, (_, i) => i);

  /** By IEEE 754's words: sign, exponent, fraction. */
  function valueOf(pattern: number, exponentBits: number, fractionBits: number): number {
    const sign = pattern >= 32768 ? -1 : 1;
    const fraction = pattern % 2 ** fractionBits;
    const exponent = Math.floor(pattern / 2 ** fractionBits) % 2 ** exponentBits;
    const bias = 2 ** (exponentBits - 1) - 1;
    if (exponent === 2 ** exponentBits - 1) {
      return fraction === 0 ? sign * Infinity : NaN;
    }
    return exponent === 0
      ? sign * fraction * 2 ** (1 - bias - fractionBits)
      : sign * (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
  }

  test.each([
    ["F16", 5, 10],
    ["BF16", 8, 7],
  ] as const)("%s", (dtype, exponentBits, fractionBits) => {
    const file = readSafetensors(fileOf({ x: entry(dtype, [256, 256], 0, 131072) }, halves(patterns)));
    const { data, shape } = file.tensor("x");
    expect(shape).toEqual([256, 256]);
    const bits = bitsOf(data);
    const wrong = [...patterns].filter((pattern) => {
      const want = valueOf(pattern, exponentBits, fractionBits);
      const kept =
        (bits[pattern] as number) % 2 ** 23 === (pattern % 2 ** fractionBits) * 2 ** (23 - fractionBits);
      const signed = (bits[pattern] as number) >= 2 ** 31 === pattern >= 32768;
      return !Object.is(data[pattern], want) || !signed || (Number.isNaN(want) && !kept);
    });
    expect(wrong).toEqual([]);
  });

  test("more than one piece", () => {
    const count = (1 << 20) + 3; // two pieces and a rest
    const pattern = (i: number) => (i * 40503) & 0x7bff; // finite
    const many = Uint16Array.from({ length: count }, (_, i) => pattern(i));
    const before = memoryUsage().total;
    const { data } = readSafetensors(fileOf({ x: entry("F16", [count], 0, 2 * count) }, halves(many))).tensor(
      "x",
    );
    expect(data.length).toBe(count);
    const wrong = [0, 1, (1 << 19) - 1, 1 << 19, (1 << 20) - 1, 1 << 20, count - 1].filter(
      (i) => data[i] !== valueOf(pattern(i), 5, 10),
    );
    expect(wrong).toEqual([]);
    expect(memoryUsage().total - before).toBeLessThan(2 ** 23);
  });
});

describe("a bad file", () => {
  const one = { x: entry("F32", [1], 0, 4) };
  const data = bytesOf(1);
  const read = (bytes: unknown) => () => untyped(readSafetensors)(bytes);
  const header = (json: Header | string | Uint8Array, bytes: ArrayLike<number> = data) =>
    read(fileOf(json, bytes));
  const x = (change: Header, bytes?: ArrayLike<number>) => header({ x: { ...one.x, ...change } }, bytes);
  const two = (a: readonly number[], b: readonly number[], bytes: number) =>
    header(
      { a: { dtype: "U8", shape: [1], data_offsets: a }, b: { dtype: "U8", shape: [1], data_offsets: b } },
      new Uint8Array(bytes),
    );
  const deep = "[".repeat(100_000) + "]".repeat(100_000);

  const cases: [string, () => unknown, RegExp][] = [
    ["nothing", read(new Uint8Array()), /0 bytes/],
    ["nothing, as a buffer", read(new ArrayBuffer(0)), /0 bytes/],
    ["7 bytes", read(new Uint8Array(7)), /7 bytes/],
    ["a header that ends after the file", read(fileOf(one, [], 1000)), /1000 bytes.*after/],
    ["a header one byte too long", read(fileOf({}, [], 3)), /3 bytes.*after/],
    ["a header of more than 100 MB", read(fileOf({}, [], 100_000_001)), /100000001 bytes.*100000000/],
    ["a header of 2^64 − 1 bytes", read(new Uint8Array(16).fill(255)), /bytes/],
    ["an empty header", header(""), /not JSON/],
    ["a header that is not UTF-8", header(Uint8Array.of(0x7b, 0xff, 0x7d)), /UTF-8/],
    ["a surrogate in UTF-8", header(Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d)), /UTF-8/],
    ["a header that is not JSON", header("{x: 1}"), /not JSON/],
    ["a header cut short", header(JSON.stringify(one).slice(0, -1)), /not JSON/],
    ["something after the header", header(`${JSON.stringify(one)}x`), /not JSON/],
    ["zeros after the header", header(`${JSON.stringify(one)}\0`), /not JSON/],
    ["a byte order mark", header(`\ufeff${JSON.stringify(one)}`), /JSON/],
    ["a space before the header", header(` ${JSON.stringify(one)}`), /begin/],
    ["an array", header("[]"), /object/],
    ["null", header("null"), /object/],
    ["a number", header("1"), /object/],
    ["text", header('"x"'), /object/],
    ["deep nesting", header(`{"x":${deep}}`), /"x"/],

    ["a tensor twice", header(`{"x":${JSON.stringify(one.x)},"x":${JSON.stringify(one.x)}}`), /"x" twice/],
    [
      "a tensor twice, once escaped",
      header(`{"x":${JSON.stringify(one.x)},"\\u0078":${JSON.stringify(one.x)}}`),
      /"x" twice/,
    ],
    [
      "a tensor twice, far apart",
      header(
        `{"x":${JSON.stringify(one.x)}, "__metadata__":{"x":"{","y":"x"} ,\n "x" :${JSON.stringify(one.x)}}`,
      ),
      /"x" twice/,
    ],
    [
      "a dtype twice",
      header('{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"dtype":"F32"}}'),
      /"dtype" twice/,
    ],
    [
      "metadata twice",
      header(`{"__metadata__":{},"x":${JSON.stringify(one.x)},"__metadata__":{}}`),
      /"__metadata__" twice/,
    ],
    [
      "a metadata name twice",
      header(`{"__metadata__":{"a":"1","a":"2"},"x":${JSON.stringify(one.x)}}`),
      /"a" twice/,
    ],
    ["metadata that is no object", header({ ...one, __metadata__: "pt" }), /__metadata__/],
    ["metadata that is null", header({ ...one, __metadata__: null }), /__metadata__/],
    ["metadata that is an array", header({ ...one, __metadata__: ["pt"] }), /__metadata__/],
    ["metadata of numbers", header({ ...one, __metadata__: { version: 1 } }), /__metadata__/],

    ["a tensor that is null", header({ x: null }), /tensor "x"/],
    ["a tensor that is an array", header({ x: [] }), /tensor "x"/],
    ["a tensor that is text", header({ x: "F32" }), /tensor "x"/],
    ["no dtype", x({ dtype: undefined }), /tensor "x".*dtype/],
    ["an unknown dtype", x({ dtype: "F12" }), /tensor "x".*dtype "F12"/],
    ["a dtype in small letters", x({ dtype: "f32" }), /tensor "x".*dtype "f32"/],
    ["a dtype of every object", x({ dtype: "constructor" }), /tensor "x".*dtype/],
    ["a dtype that is a number", x({ dtype: 32 }), /tensor "x".*dtype 32/],
    ["no shape", x({ shape: undefined }), /tensor "x".*shape/],
    ["a shape that is a number", x({ shape: 1 }), /tensor "x".*shape/],
    ["a negative size", x({ shape: [-1] }), /tensor "x".*shape \[-1\]/],
    [
      "a size of −0",
      header('{"x":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}', []),
      /tensor "x".*shape/,
    ],
    ["a fractional size", x({ shape: [0.5] }), /tensor "x".*shape/],
    ["a size of text", x({ shape: ["1"] }), /tensor "x".*shape/],
    ["a size of null", x({ shape: [null] }), /tensor "x".*shape/],
    ["a size beyond 2^53", x({ shape: [2 ** 60] }), /tensor "x".*shape/],
    ["a product beyond 2^53", x({ shape: [2 ** 30, 2 ** 30] }), /tensor "x".*too many/],
    [
      "a product that wraps to 1 in 64 bits",
      x({ shape: [2 ** 32 - 1, 2 ** 32 + 1, 1] }),
      /tensor "x".*too many/,
    ],
    [
      "a product that wraps to 0 in 64 bits",
      x({ shape: [2 ** 32, 2 ** 32], data_offsets: [0, 0] }, []),
      /tensor "x".*too many/,
    ],

    ["no offsets", x({ data_offsets: undefined }), /tensor "x".*data_offsets/],
    ["one offset", x({ data_offsets: [0] }), /tensor "x".*data_offsets/],
    ["three offsets", x({ data_offsets: [0, 4, 8] }), /tensor "x".*data_offsets/],
    ["a negative offset", x({ data_offsets: [-4, 0] }), /tensor "x".*data_offsets/],
    ["a fractional offset", x({ data_offsets: [0, 4.5] }), /tensor "x".*data_offsets/],
    ["offsets of text", x({ data_offsets: ["0", "4"] }), /tensor "x".*data_offsets/],
    ["offsets the wrong way round", x({ data_offsets: [4, 0] }), /tensor "x".*\[4, 0\].*4 bytes/],
    ["an end past the end", x({ shape: [2], data_offsets: [0, 8] }), /tensor "x".*\[0, 8\].*4 bytes/],
    ["an end far past the end", x({ data_offsets: [0, 2 ** 53 - 1] }), /tensor "x".*4 bytes/],
    [
      "too many bytes for the shape",
      x({ data_offsets: [0, 8] }, new Uint8Array(8)),
      /tensor "x".*8 bytes.*F32 \[1\]/,
    ],
    ["too few bytes for the shape", x({ shape: [2] }), /tensor "x".*4 bytes.*F32 \[2\]/],
    ["bytes that do not fit the dtype", x({ dtype: "F16" }), /tensor "x".*4 bytes.*F16 \[1\]/],
    [
      "an element that ends within a byte",
      x({ dtype: "F4", shape: [3], data_offsets: [0, 2] }, [0, 0]),
      /tensor "x".*2 bytes.*F4/,
    ],
    ["tensors that overlap", two([0, 1], [0, 1], 1), /tensor "b".*overlaps "a"/],
    ["a hole between tensors", two([0, 1], [2, 3], 3), /tensor "b".*hole after "a"/],
    ["a hole before the first", x({ data_offsets: [4, 8] }, new Uint8Array(8)), /tensor "x".*hole/],
    ["bytes after the last tensor", header(one, new Uint8Array(7)), /3 bytes follow "x"/],
    ["bytes after no tensor", header({}, new Uint8Array(1)), /1 bytes follow the header/],
  ];
  table(
    cases.map(([name, call, message]): Case => [name, call, "FORMAT", message]),
    expectGood,
  );

  table(
    [
      ["no argument", read(undefined), "DTYPE", /Undefined/],
      ["null", read(null), "DTYPE", /Null/],
      ["text", read("{}"), "DTYPE", /String/],
      ["numbers", read([...good]), "DTYPE", /Array/],
      ["a Float32Array", read(new Float32Array(8)), "DTYPE", /Float32Array/],
      ["signed bytes", read(new Int8Array(8)), "DTYPE", /Int8Array/],
      ["a DataView", read(new DataView(good.slice().buffer)), "DTYPE", /DataView/],
      ["an unknown tensor", () => readSafetensors(good).tensor("y"), "STATE_DICT", /"y"/],
      ["no tensor's name", () => untyped(readSafetensors(good)).tensor(), "STATE_DICT", /"undefined"/],
      ["a prefix of null", () => untyped(readSafetensors(good)).tensors(null), "OPTION", /prefix/],
      ["a prefix that is a pattern", () => untyped(readSafetensors(good)).tensors(/x/), "OPTION", /prefix/],
    ],
    expectGood,
  );

  test("every error is an AttentionError with its cause, and memory stays flat", () => {
    expect(caught(header("{")).cause).toBeInstanceOf(SyntaxError);
    expect(caught(header("{"))).toBeInstanceOf(AttentionError);
    const before = memoryUsage();
    for (let i = 0; i < 2000; i++) {
      caught(cases[i % cases.length]?.[1] as () => unknown);
    }
    expect(memoryUsage()).toEqual(before);
  });

  test("a good file cut anywhere, or with any byte of the header length changed", () => {
    for (let length = 0; length < good.length; length++) {
      expectError(read(good.subarray(0, length)), "FORMAT", /./);
    }
    for (let i = 0; i < 8; i++) {
      const changed = good.slice();
      changed[i] = (changed[i] as number) ^ 1;
      expectError(read(changed), "FORMAT", /./);
    }
    expectTensor(readSafetensors(good).tensor("h"), [2], flat([1, -2], 2).data as never);
  });
});
