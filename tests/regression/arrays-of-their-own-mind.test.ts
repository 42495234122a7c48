// Arrays that lie about themselves, empty ones of any size, and copies that fail: memory of the core was overwritten or
// lost, or a caller's code got a view of it.

import { afterEach, describe, expect, test } from "vitest";
import { load } from "softlookup/load";
import type { AttentionCallOptions, Softlookup, Tensor } from "softlookup";
import { caught } from "../js/support.js";

const filled = (...shape: number[]): Tensor => ({
  data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(0.5),
  shape,
});
const empty = (...shape: number[]): Tensor => ({ data: new Float32Array(0), shape });
const one = filled(2, 8, 4);

/** An instance of its own, since one whose memory was overwritten is lost for all that follows. */
let core: Softlookup;
let before: number;
const fresh = async () => {
  core = await load();
  core.scaledDotProductAttention(one, one, one, { needWeights: true });
  before = core.memoryUsage().allocated;
};
const attend = (
  q: { data: Float32Array; shape: readonly number[] },
  k: Tensor,
  v: Tensor,
  options?: AttentionCallOptions,
) => core.scaledDotProductAttention(q, k, v, options);

/** The next call is right, and nothing is left behind. */
afterEach(() => {
  expect([...attend(one, one, one).output.data]).toEqual([...one.data]);
  expect([...attend(one, one, one, { needWeights: true }).output.data]).toEqual([...one.data]);
  expect(core.memoryUsage().allocated).toBe(before);
});

describe("arrays that lie", () => {
  test("one that is detached while another is read", async () => {
    await fresh();
    const [q, k, v] = [filled(1, 1, 2000, 64), filled(1, 1, 4, 64), filled(1, 1, 4, 64)];
    const last = {
      get data() {
        // Asked for twice; what is detached already, a browser does not transfer again.
        if (q.data.length > 0) structuredClone(0, { transfer: [q.data.buffer as ArrayBuffer] });
        return v.data;
      },
      shape: v.shape,
    };
    expect(caught(() => attend(q, k, last)).code).toBe("SHAPE");
  });

  test("a subclass whose pieces are larger than itself", async () => {
    await fresh();
    class Larger extends Float32Array {
      override subarray() {
        return new Float32Array(200_000).fill(1e30) as Float32Array<ArrayBuffer>;
      }
    }
    const k = filled(1, 1, 4, 4);
    const { output } = attend({ data: new Larger(80), shape: [1, 1, 20, 4] }, k, k);
    expect([...output.data]).toEqual(new Array<number>(80).fill(0.5));
  });

  test("a subclass whose length changes", async () => {
    await fresh();
    class Growing extends Float32Array {
      #asked = 0;
      override get length() {
        return this.#asked++ < 2 ? 64 : 200_000;
      }
    }
    const k = filled(1, 1, 4, 4);
    const data = new Growing(200_000);
    expect(caught(() => attend({ data, shape: [1, 1, 16, 4] }, k, k)).code).toBe("SHAPE");
  });

  test.each([{}, { window: 5 }, { needWeights: true }])(
    "an out that would see what is set: %j",
    async (options) => {
      await fresh();
      const seen: unknown[] = [];
      class Watching extends Float32Array {
        override set(from: ArrayLike<number>) {
          seen.push(from);
        }
      }
      const k = filled(1, 1, 30, 4);
      const out = new Watching(120);
      expect(attend(k, k, k, { ...options, out, causal: true }).output.data).toBe(out);
      expect([...out]).toEqual([...k.data]);
      expect(seen).toEqual([]);
    },
  );

  test.each([
    ["a proxy", () => new Proxy(new Float32Array(64), {}), "DTYPE"],
    [
      "a DataView by another name",
      () => Object.setPrototypeOf(new DataView(new ArrayBuffer(256)), Float32Array.prototype),
      "DTYPE",
    ],
  ])("%s", async (_, data, code) => {
    await fresh();
    expect(caught(() => attend({ data: data() as Float32Array, shape: [2, 8, 4] }, one, one)).code).toBe(
      code,
    );
  });
});

describe("empty tensors of any size", () => {
  const huge = 2 ** 28;

  test.each([{}, { softcap: 3 }, { needWeights: true }])("no batch row, %j", async (options) => {
    await fresh();
    const keys = empty(0, 1, huge, 8);
    expect(attend(empty(0, 1, 2, 8), keys, keys, options).output).toEqual(empty(0, 1, 2, 8));
  });

  test("more weights than memory holds", async () => {
    await fresh();
    const wide = empty(1, 1, 0, 2 ** 31 - 1);
    expect(() => attend(wide, wide, wide)).not.toThrow();
    const { code } = caught(() => core.rope(empty(0, 4, 2 ** 30), { layout: "half" }));
    expect(code).toBe("OUT_OF_MEMORY");
  });
});

test("an answer that cannot be copied is its own error, and all of it is given back", async () => {
  await fresh();
  const typed = Object.getPrototypeOf(Float32Array.prototype) as { slice: unknown };
  const { slice } = typed;
  const q = filled(1, 2, 50, 16);
  const calls = [
    () => attend(q, q, q, { softcap: 3 }),
    () => attend(q, q, q, { needWeights: true }),
    () => core.scaledDotProductAttention.trace(q, q, q),
    () => core.rowSums(q),
    () => core.rope(q, { layout: "half" }),
  ];
  for (const call of calls) {
    typed.slice = () => {
      throw new RangeError("no memory for the copy");
    };
    try {
      expect(call).toThrow("no memory for the copy");
    } finally {
      typed.slice = slice;
    }
    expect(core.memoryUsage().allocated).toBe(before);
  }
});

test("options that are inherited count, whatever else is asked for", async () => {
  await fresh();
  const q = core.randomNormal([2, 8, 4], 1);
  const causal = [...attend(q, q, q, { causal: true }).output.data];
  for (const more of [{}, { needWeights: true }]) {
    const options = Object.assign(Object.create({ causal: true }) as AttentionCallOptions, more);
    expect([...attend(q, q, q, options).output.data]).toEqual(causal);
  }
});

test("parameters beyond 32 bits are counted", async () => {
  await fresh();
  const layer = new core.GroupedQueryAttention({
    hiddenSize: 8,
    numHeads: 2 ** 16,
    numKvHeads: 2 ** 16,
    headDim: 2 ** 12,
  });
  expect(layer.parameterCount).toBe(2 * 8 * 2 * 2 ** 28);
  layer.dispose();
});

test("a cache of more heads than can be numbered is refused", async () => {
  await fresh();
  const size = { batch: 2 ** 16, numKvHeads: 2 ** 16, headDim: 1, capacity: 0 };
  expect(caught(() => new core.KVCache(size)).code).toBe("OUT_OF_MEMORY");
});
