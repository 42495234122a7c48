// The same functions over workers: the same bits, the same errors, and what only workers have.

import fc from "fast-check";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import {
  linearAttention,
  scaledDotProductAttention,
  type AttentionCallOptions,
  type Tensor,
  type TensorLike,
} from "softlookup";
import { createPool } from "softlookup/pool";
import { maskForms, maskOf, normal, range, seeds } from "./arbitrary.js";
import {
  caught,
  expectError,
  expectRejection,
  expectSameBits,
  flat,
  leavesNothingAlive,
  rejected,
} from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const simd = inject("simd"); // a worker does not see what the set-up hides
const pool = createPool({ workers: 2, simd });
afterAll(() => {
  pool.dispose();
});

type Options = Omit<AttentionCallOptions, "cache" | "lengths" | "side">;
type Inputs = readonly [TensorLike, TensorLike, TensorLike];

/** Returns how many shares were made of the call, all of which must have gone well. */
async function expectSame(inputs: Inputs, options: Options = {}, shared = pool): Promise<number> {
  const want = scaledDotProductAttention(...inputs, options);
  const seen: [done: number, total: number][] = [];
  const onProgress = (...progress: [number, number]) => seen.push(progress);
  const got = await shared.scaledDotProductAttention(...inputs, { ...options, onProgress });
  expect(Object.keys(got).sort()).toEqual(Object.keys(want).sort());
  expectSameBits(got.output, want.output);
  if (want.weights) {
    expectSameBits(got.weights as Tensor, want.weights);
  }
  const total = seen.at(-1)?.[1] as number;
  expect(seen).toEqual(range(total).map((i) => [i + 1, total]));
  return total;
}

const inputs = (B: number, H: number, K: number, L = 5, S = 7): [Tensor, Tensor, Tensor] => [
  normal(1, B, H, L, 3),
  normal(2, B, K, S, 3),
  normal(3, B, K, S, 4),
];

describe("the same bits", () => {
  test("any sizes, masks and options", async () => {
    const sizes = fc.record({
      B: fc.integer({ min: 1, max: 3 }),
      K: fc.integer({ min: 1, max: 5 }),
      group: fc.integer({ min: 1, max: 3 }),
      L: fc.integer({ min: 0, max: 70 }),
      S: fc.integer({ min: 0, max: 70 }),
      form: maskForms,
      causal: fc.constantFrom(undefined, "top-left" as const, "bottom-right" as const),
      given: fc.uniqueArray(
        fc.constantFrom("mask", "sinks", "alibiSlopes", "keyLengths", "window", "softcap"),
      ),
      needWeights: fc.boolean(),
      seed: seeds,
    });
    await fc.assert(
      fc.asyncProperty(sizes, async ({ B, K, group, L, S, form, causal, given, needWeights, seed }) => {
        const H = K * group;
        const scores = [B, H, L, S].map((size, axis) => (form.ones[axis] ? 1 : size)).slice(4 - form.rank);
        const all: Options = {
          mask: maskOf(form.kind, scores, seed + 3),
          sinks: normal(seed + 4, H),
          alibiSlopes: flat(
            range(H).map((h) => 2 ** -h),
            H,
          ),
          keyLengths: range(B).map((b) => (S * (b + 1)) % (S + 1)),
          window: 3,
          softcap: 2,
        };
        const chosen = Object.entries(all).filter(([name]) => (given as string[]).includes(name));
        const options = { causal, align: "top-left" as const, needWeights, ...Object.fromEntries(chosen) };
        const tensors = [
          normal(seed, B, H, L, 5),
          normal(seed + 1, B, K, S, 5),
          normal(seed + 2, B, K, S, 6),
        ] as const;
        expect(await expectSame(tensors, options)).toBe(B * Math.ceil(K / Math.ceil((B * K) / 8)));
      }),
      { numRuns: 60, seed: 2017 },
    );
  });

  test.each<[string, Inputs]>([
    ["[L, E]", [normal(1, 5, 3), normal(2, 7, 3), normal(3, 7, 4)]],
    ["[H, L, E]", [normal(1, 6, 5, 3), normal(2, 3, 7, 3), normal(3, 3, 7, 4)]],
    ["nested arrays", [[[0]], [[0], [0]], [[1], [3]]]],
    ["dims for shape", [normal(1, 5, 3), { data: normal(2, 7, 3).data, dims: [7, 3] }, normal(3, 7, 4)]],
    ["no queries", inputs(2, 4, 2, 0)],
    ["no keys", inputs(2, 4, 2, 5, 0)],
    ["no batch rows", inputs(0, 4, 2)],
    ["more heads than workers", inputs(3, 20, 10)],
    ["one head", inputs(1, 1, 1)],
    ["one key/value head", inputs(2, 6, 1)],
  ])("%s", async (_, tensors) => {
    await expectSame(tensors, { needWeights: true });
  });

  test("the work is shared out, and the query heads of one key stay together", async () => {
    expect(await expectSame(inputs(1, 1, 1))).toBe(1);
    expect(await expectSame(inputs(1, 8, 8))).toBe(8);
    expect(await expectSame(inputs(1, 8, 2))).toBe(2);
    expect(await expectSame(inputs(3, 4, 2))).toBe(6);
    expect(await expectSame(inputs(1, 100, 100))).toBeLessThan(10);
    expect(await expectSame(inputs(0, 4, 4))).toBe(1);
  });

  test("more workers than heads", async () => {
    using wide = createPool({ workers: 4, simd });
    expect(wide.workers).toBe(4);
    await expectSame(inputs(1, 2, 2), { causal: "top-left", needWeights: true }, wide);
  });

  test("several calls at once", async () => {
    await Promise.all(range(5).map((i) => expectSame(inputs(i + 1, 4, 2, i + 1))));
  });

  test("linear attention", async () => {
    const [q, k, v] = inputs(2, 4, 2, 7);
    const keyMask = maskOf("boolean", [2, 7], 5);
    for (const options of [{}, { causal: true }, { keyMask, eps: 0.5 }]) {
      expectSameBits(
        (await pool.linearAttention(q, k, v, options)).output,
        linearAttention(q, k, v, options).output,
      );
    }
  });
});

describe("the caller's arrays", () => {
  test("stay with the caller, as they were", async () => {
    const [q, k, v] = inputs(2, 4, 2);
    const mask = maskOf("boolean", [2, 4, 5, 7], 4);
    const sinks = normal(5, 4);
    const given = [q, k, v, mask, sinks].map(({ data }) => ({ data, before: data.slice() }));
    await pool.scaledDotProductAttention(q, k, v, { mask, sinks });
    for (const { data, before } of given) {
      expect(data).toEqual(before);
    }
  });

  test("out is written to", async () => {
    const [q, k, v] = inputs(2, 4, 2);
    const out = new Float32Array(2 * 4 * 5 * 4).fill(7);
    const { output } = await pool.scaledDotProductAttention(q, k, v, { out });
    expect(output.data).toBe(out);
    expectSameBits(output, scaledDotProductAttention(q, k, v).output);
  });

  test("out is left alone by a call that fails", async () => {
    const [q, k, v] = inputs(2, 4, 2);
    const out = new Float32Array(2 * 4 * 5 * 4).fill(7);
    const mask = flat(
      range(7).map((i) => (i === 3 ? NaN : 0)),
      7,
    );
    await expectRejection(() => pool.scaledDotProductAttention(q, k, v, { out, mask }), "MASK_VALUE", /mask/);
    expect(new Set(out)).toEqual(new Set([7]));
  });
});

describe("errors: the code and the words of the plain function", () => {
  const [q, k, v] = inputs(2, 4, 2);
  const longer = { data: new Float32Array(1000), shape: q.shape };
  test.each<[string, Inputs, Options?]>([
    ["heads that do not divide", [q, normal(2, 2, 3, 7, 3), normal(3, 2, 3, 7, 4)]],
    ["no heads", [normal(1, 2, 0, 5, 3), normal(2, 2, 0, 7, 3), normal(3, 2, 0, 7, 4)]],
    ["no key/value heads", [q, normal(2, 2, 0, 7, 3), normal(3, 2, 0, 7, 4)]],
    ["batch rows that differ", [q, normal(2, 1, 2, 7, 3), normal(3, 1, 2, 7, 4)]],
    ["heads of k and v that differ", [q, k, normal(3, 2, 4, 7, 4)]],
    ["lengths that differ", [q, k, normal(3, 2, 2, 6, 4)]],
    ["head dims that differ", [q, normal(2, 2, 2, 7, 4), v]],
    ["head dim 0", [normal(1, 2, 4, 5, 0), normal(2, 2, 2, 7, 0), v]],
    ["ranks that differ", [normal(1, 4, 5, 3), k, v]],
    ["too few axes", [normal(1, 5), normal(2, 7), normal(3, 7)]],
    ["too many axes", [normal(1, 1, 1, 1, 5, 3), normal(2, 1, 1, 1, 7, 3), normal(3, 1, 1, 1, 7, 4)]],
    ["too many elements", [longer, k, v]],
    ["integers", [new Int32Array(3) as never, k, v]],
    ["no tensor", [q, undefined as never, v]],
    ["a mask of other heads", [q, k, v], { mask: maskOf("boolean", [2, 3, 5, 7], 1) }],
    ["a mask of other keys", [q, k, v], { mask: maskOf("boolean", [5, 6], 1) }],
    ["a mask of too many axes", [q, k, v], { mask: maskOf("boolean", [1, 2, 4, 5, 7], 1) }],
    ["a mask that is too short", [q, k, v], { mask: { data: new Uint8Array(3), shape: [2, 1, 5, 7] } }],
    [
      "NaN in the last head of a mask",
      [q, k, v],
      { mask: flat([...Array<number>(279).fill(0), NaN], 2, 4, 5, 7) },
    ],
    ["causal without an alignment", [q, k, v], { causal: true }],
    ["sinks for other heads", [q, k, v], { sinks: [1] }],
    ["slopes for other heads", [q, k, v], { alibiSlopes: normal(1, 5), align: "top-left" }],
    ["lengths of other rows", [q, k, v], { keyLengths: [1] }],
    ["a length beyond the keys", [q, k, v], { keyLengths: [1, 8] }],
    ["lengths that are none", [q, k, v], { keyLengths: "12" as never }],
    ["a scale of NaN", [q, k, v], { scale: NaN }],
    ["a window of 0", [q, k, v], { window: 0 }],
    ["out of another length", [q, k, v], { out: new Float32Array(3) }],
    ["out of another kind", [q, k, v], { out: new Float64Array(160) as never }],
  ])("%s", async (_, tensors, options) => {
    const want = caught(() => scaledDotProductAttention(...tensors, options));
    const got = await rejected(() => pool.scaledDotProductAttention(...tensors, options));
    expect({ code: got.code, message: got.message }).toEqual({ code: want.code, message: want.message });
    await expectSame([q, k, v]);
  });

  test.each([{ cache: {} }, { casual: true }, null])("options %j", async (options) => {
    await expectRejection(
      () => pool.scaledDotProductAttention(q, k, v, options as never),
      "OPTION",
      /options/,
    );
  });

  test.each([{ workers: 0 }, { workers: 1.5 }, { workers: "2" }, { threads: 2 }, null])(
    "a pool of %j",
    (options) => {
      expectError(() => createPool(options as never), "OPTION", /workers|options/);
    },
  );

  test("a binary that nobody knows", async () => {
    using other = createPool({ workers: 1, simd: "fast" as never });
    await expectRejection(() => other.scaledDotProductAttention(q, k, v), "OPTION", /simd/);
  });
});

describe("cancelling", () => {
  const [q, k, v] = inputs(4, 8, 8);

  test("before the call: nothing is begun", async () => {
    const reason = new Error("changed my mind");
    const onProgress = vi.fn();
    const call = pool.scaledDotProductAttention(q, k, v, { signal: AbortSignal.abort(reason), onProgress });
    await expect(call).rejects.toBe(reason);
    expect(onProgress).not.toHaveBeenCalled();
  });

  test("during the call: it rejects with the reason, and the rest is left undone", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const onProgress = vi.fn(() => {
      controller.abort(reason);
    });
    const call = pool.scaledDotProductAttention(q, k, v, { signal: controller.signal, onProgress });
    await expect(call).rejects.toBe(reason);
    await expectSame([q, k, v]);
    expect(onProgress).toHaveBeenCalledTimes(1);
  });

  test("after the call: without effect", async () => {
    const controller = new AbortController();
    const { output } = await pool.scaledDotProductAttention(q, k, v, { signal: controller.signal });
    controller.abort();
    expectSameBits(output, scaledDotProductAttention(q, k, v).output);
  });

  test("one of two calls: the other goes on", async () => {
    const controller = new AbortController();
    const cancelled = pool.scaledDotProductAttention(q, k, v, { signal: controller.signal });
    const other = expectSame([q, k, v]);
    controller.abort();
    await expect(cancelled).rejects.toBe(controller.signal.reason);
    await other;
  });

  test("what onProgress throws is what the call rejects with", async () => {
    const reason = new Error("no");
    const onProgress = () => {
      throw reason;
    };
    await expect(pool.scaledDotProductAttention(q, k, v, { onProgress })).rejects.toBe(reason);
    await expectSame([q, k, v]);
  });
});

describe("disposing", () => {
  const [q, k, v] = inputs(2, 4, 2);

  test("ends calls under way, and all later ones", async () => {
    const mine = createPool({ workers: 2, simd });
    const call = rejected(() => mine.scaledDotProductAttention(q, k, v));
    mine.dispose();
    mine.dispose();
    expect((await call).code).toBe("DISPOSED");
    await expectRejection(() => mine.scaledDotProductAttention(q, k, v), "DISPOSED", /pool/);
    await expectSame([q, k, v]);
  });

  test("by using", async () => {
    let mine;
    {
      using short = createPool({ workers: 1, simd });
      await expectSame([q, k, v], {}, short);
      mine = short;
    }
    await expectRejection(() => mine.linearAttention(q, k, v), "DISPOSED", /pool/);
  });
});
