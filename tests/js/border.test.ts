// What crosses to the core and back: values of every kind, hostile ones too, and messages of every size.

import { describe, expect, test } from "vitest";
import {
  MultiHeadAttention,
  cost,
  growthExponent,
  masks,
  memoryUsage,
  randomNormal,
  rope,
  scaledDotProductAttention,
  softmax,
  splitHeads,
} from "softlookup";
import { load } from "softlookup/load";
import { Message, scalar, scalars, type Plain } from "../../bindings/js/message.ts";
import { caught, expectError, expectSameBits, flat, leavesNothingAlive, numbers } from "./support.js";

leavesNothingAlive();

const q = randomNormal([2, 3, 4], 1);
const attend = (options: object) => scaledDotProductAttention(q, q, q, options);
const plain = attend({ needWeights: true });

/** Fails with `call`'s error; afterwards nothing is held, and the next answer is right. */
function failsCleanly(call: () => unknown, check: (error: unknown) => void): void {
  const before = memoryUsage();
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  check(thrown);
  expect(memoryUsage()).toEqual(before);
  expectSameBits(attend({ needWeights: true }).output, plain.output);
}

describe("a caller's objects", () => {
  test("a getter that throws says what it threw, and nothing is left behind", () => {
    const reason = new Error("mine");
    const throwing = (name: string) =>
      Object.defineProperty({}, name, {
        enumerable: true,
        get() {
          throw reason;
        },
      });
    const calls = [
      () => attend(throwing("mask")),
      () => attend(throwing("scale")),
      () => attend({ window: throwing("left") }),
      () => attend({ mask: Object.assign(throwing("data"), { shape: [1] }) }),
      () => rope(q, { layout: "half", scaling: throwing("type") as never }),
      () => new MultiHeadAttention(throwing("embedDim") as never),
    ];
    for (const call of calls) {
      failsCleanly(call, (error) => {
        expect(error).toBe(reason);
      });
    }
  });

  test("each property is read once", () => {
    const reads: string[] = [];
    const options = { needWeights: true, scale: 0.5, causal: true };
    const watched = Object.defineProperties(
      {},
      Object.fromEntries(
        Object.entries(options).map(([name, value]) => [
          name,
          { enumerable: true, get: () => (reads.push(name), value) },
        ]),
      ),
    );
    expectSameBits(softmaxWeights(watched), softmaxWeights(options));
    expect(reads.filter((name) => name !== "causal" && name !== "scale")).toEqual(["needWeights"]);
  });

  test("a getter may call the package itself", () => {
    const options = Object.defineProperty({ needWeights: true }, "scale", {
      enumerable: true,
      get: () => softmax(flat([0, 0], 2)).data[0],
    });
    expectSameBits(softmaxWeights(options), softmaxWeights({ needWeights: true, scale: 0.5 }));
  });

  test("what ends nowhere or is huge is refused at once", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const ring: unknown[] = [];
    ring.push(ring);
    const wide = new Array<unknown>(1e6).fill(ring);
    const deep = Array.from({ length: 1e4 }).reduce<unknown>((inner) => [inner], 1);
    const sparse = new Array<number>(2 ** 32 - 1);
    for (const value of [cycle, ring, wide, deep, sparse, () => 1, Symbol("s"), 1n, null, new Map()]) {
      for (const name of ["causal", "scale", "softcap", "align", "keyLengths", "needWeights"]) {
        failsCleanly(
          () => attend({ [name]: value }),
          (error) => {
            expect(error).toMatchObject({ code: "OPTION", message: expect.stringContaining(name) as string });
          },
        );
      }
      const given = value as never;
      expectError(() => masks.causal(given), "OPTION", /^L must be/);
      expectError(() => masks.padding(given, 3), "OPTION", /^lengths/);
      expectError(() => splitHeads(q, given), "OPTION", /^numHeads must be/);
      expectError(() => cost.operations({ length: given, modelDim: 1 }), "OPTION", /^length must be/);
    }
  });

  test("an object that calls itself an array is none, and is not read", () => {
    const reads: PropertyKey[] = [];
    const data = new Proxy(
      { [Symbol.toStringTag]: "Float32Array" },
      {
        get: (target, name) => {
          if (typeof name === "string") reads.push(name);
          return Reflect.get(target, name) as unknown;
        },
      },
    );
    expectError(() => softmax({ data, shape: [1] } as never), "DTYPE", /not Object$/);
    expectError(() => softmax(data as never), "DTYPE", /not Object$/);
    expect(reads).toEqual([]);
  });

  test("an array has the length that it has, whatever it says", () => {
    for (const length of [0, 1, 1e9, -1, NaN, "x"]) {
      const data = Object.defineProperty(Float32Array.of(1, 2, 3, 4), "length", { value: length });
      expectSameBits(softmax({ data, shape: [2, 2] }), softmax(flat([1, 2, 3, 4], 2, 2)));
      const error = caught(() => softmax({ data, shape: [3] }));
      expect(error.message).toBe("scores: 4 elements do not fill its shape [3]");
    }
  });
});

function softmaxWeights(options: object) {
  const { weights } = attend({ needWeights: true, ...options });
  if (!weights) throw new Error("no weights");
  return weights;
}

describe("numbers and text", () => {
  test("NaN, -0 and infinities stay what they are", () => {
    expectError(() => attend({ scale: NaN }), "OPTION", /scale/);
    expectError(() => attend({ scale: Infinity }), "OPTION", /scale/);
    expect(numbers(softmax(flat([-0, 0], 2)))).toEqual([0.5, 0.5]);
    expect(masks.causal(-0)).toEqual({ data: new Uint8Array(), shape: [0, 0] });
    const added = masks.toAdditive({ data: Float32Array.of(-0, -Infinity), shape: [2] });
    expect(numbers(added)).toEqual([-0, -Infinity]);
    expect(growthExponent([1, 2, 4], [3, 3, 3])).toBe(0);
  });

  test.each([
    ["näme", "näme"],
    ["名前", "名前"],
    ["🦉", "🦉"],
    ["half \ud800", "half \ufffd"],
    ["%", "%"],
    ["x".repeat(5000), "x".repeat(5000)],
  ])("a name as it was written (%#)", (name, shown) => {
    const before = memoryUsage();
    const attention = new MultiHeadAttention({ embedDim: 2, numHeads: 1 });
    const error = caught(() => {
      attention.loadStateDict({
        in_proj_weight: flat(new Array(12).fill(0), 6, 2),
        in_proj_bias: flat(new Array(6).fill(0), 6),
        "out_proj.weight": flat([1, 0, 0, 1], 2, 2),
        "out_proj.bias": flat([0, 0], 2),
        [name]: [1, 2, 3],
      });
    });
    attention.dispose();
    expect(error.message).toBe(`state dict: ${shown} [3] does not belong to this configuration`);
    expect(memoryUsage()).toEqual(before);
  });
});

describe("sizes", () => {
  test.each([0, 1, 100, 252, 253, 300, 5000])("a list of %i numbers", (count) => {
    const before = memoryUsage().allocated;
    const lengths = Array.from({ length: count }, (_, i) => i % 3);
    const mask = masks.padding(lengths, 2);
    expect(mask.shape).toEqual([count, 1, 1, 2]);
    expect(numbers(mask)).toEqual(lengths.flatMap((length) => [Number(length > 0), Number(length > 1)]));
    expect(memoryUsage().allocated).toBe(before);
  });

  test("the first wrong element is named, however many follow", () => {
    const lengths = new Array<unknown>(5000).fill(1);
    lengths[4000] = "1";
    lengths[4001] = {};
    expectError(() => masks.padding(lengths as number[], 2), "OPTION", /^lengths\[4000\] must be/);
  });

  test("the memory may grow between the message and the answer", async () => {
    const own = await load();
    const { total } = own.memoryUsage();
    const rows = 2 ** 13;
    const lengths = Array.from({ length: rows }, (_, i) => i % 1025);
    const mask = own.masks.padding(lengths, 1024); // 8 MB there, and as much here
    const many = own.masks.padding(lengths.concat(lengths), 1024);
    expect(own.memoryUsage().total).toBeGreaterThan(total);
    const kept = (data: Uint8Array) => data.reduce((sum, flag) => sum + flag, 0);
    const expected = lengths.reduce((sum, length) => sum + length, 0);
    expect([kept(mask.data), kept(many.data)]).toEqual([expected, 2 * expected]);
    expect(own.memoryUsage().allocated).toBe(0);
  });

  test("an output goes into the array that was given, and only there", () => {
    const around = new Float32Array(26).fill(7);
    const out = around.subarray(1, 25);
    const { output } = attend({ needWeights: true, out });
    expect(output.data).toBe(out);
    expectSameBits({ data: out.slice(), shape: output.shape }, plain.output);
    expect([around[0], around[25]]).toEqual([7, 7]);
    failsCleanly(
      () => attend({ needWeights: true, out: around }),
      (error) => {
        expect(error).toMatchObject({
          code: "SHAPE",
          message: "out [26] does not hold the output [1, 2, 3, 4]",
        });
      },
    );
  });
});

describe("the message", () => {
  /** As bindings/value.hpp reads it. */
  function read(
    { words, arrays }: { words: Uint32Array; arrays: readonly ArrayBufferView[] },
    at = 0,
  ): unknown {
    const [kind, size = 0, place = 0] = words.subarray(4 * at);
    const doubles = new Float64Array(words.slice(4 * at, 4 * at + 4).buffer);
    const children = (count: number) =>
      Array.from({ length: count }, (_, i) => read({ words, arrays }, at + place + i));
    switch (kind) {
      case 0:
        return undefined;
      case 1:
        return null;
      case 2:
        return false;
      case 3:
        return true;
      case 4:
        return doubles[1];
      case 5:
        return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
          new Uint8Array(words.buffer, 16 * (at + place), size),
        );
      case 6:
        return arrays[place];
      case 7:
        return children(size);
      default: {
        const entries = children(2 * size);
        return Object.fromEntries(
          Array.from({ length: size }, (_, i) => [entries[2 * i] as string, entries[2 * i + 1]]),
        );
      }
    }
  }

  const message = new Message();
  const written = (values: readonly Plain[]) =>
    read({ words: message.write(values), arrays: message.arrays });

  test("holds values of every kind", () => {
    const values = [
      undefined,
      null,
      true,
      false,
      -0,
      NaN,
      1e300,
      "",
      "sixteen letters!",
      "\ufeffзнак 🦉",
      [],
      {},
      [[[]], [1, [2, "3"]]],
      { a: { b: [Float32Array.of(1), { c: undefined }] }, "": 0 },
    ] satisfies Plain[];
    expect(written(values)).toEqual(values);
  });

  test("grows with what it holds, and forgets it", () => {
    const values = Array.from({ length: 1e4 }, (_, i) => ({ [`name ${i}`]: [i, String(i)] }));
    expect(written(values)).toEqual(values);
    message.clear();
    expect(message.arrays).toEqual([]);
    expect(written([1, Uint8Array.of(1)])).toEqual([1, Uint8Array.of(1)]);
    expect(message.arrays.length).toBe(1);
  });

  test("takes in nothing of a caller's that is no scalar", () => {
    expect([undefined, true, 0, "", -0].map(scalar)).toEqual([undefined, true, 0, "", -0]);
    expect([null, {}, [], () => 0, Symbol("s"), 1n].map(scalar)).toEqual(new Array(6).fill(null));
    expect([[], [1, 2], [1, "2", 3], [[1]], "12", { length: 1 }].map(scalars)).toEqual([
      [],
      [1, 2],
      [1, NaN],
      [NaN],
      "12",
      null,
    ]);
  });
});
