// Faults that happened to others, each with numbers that can be checked by hand. With q = 0 every permitted
// key has the same weight, so the output is the mean of the permitted v.

import { describe, expect, test, vi } from "vitest";
import {
  AttentionError,
  GroupedQueryAttention,
  KVCache,
  MultiHeadAttention,
  additiveAttention,
  boolTensor,
  linearAttention,
  masks,
  mergeHeads,
  memoryUsage,
  repeatKv,
  rmsNorm,
  rope,
  ropeTable,
  growthExponent,
  rowEntropies,
  rowSums,
  scaledDotProductAttention,
  softmax,
  splitHeads,
  tensor,
  zeros,
  type MaskLike,
  type Tensor,
  type TensorLike,
} from "softlookup";
import { load } from "softlookup/load";
import { Attention, RMSNormalization, RotaryEmbedding } from "softlookup/onnx";
import { expectEverywhere } from "./paths.js";
import {
  at,
  byHand,
  caught,
  expectClose,
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  flatBool,
  identity,
  identityState,
  leavesNothingAlive,
  numbers,
  step,
  withMultiHead,
} from "./support.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const exact = { abs: 0, rel: 0 };

/** n zeros */
const none = (n: number): number[] => Array<number>(n).fill(0);
/** 1, 2, … n */
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
/** A column of one head of head dim 1. */
const column = (...data: number[]) => flat(data, data.length, 1);

// x = [[1, 2], [3, −1]], two heads of head dim 1, identity projections, no bias
const toy = tensor([
  [1, 2],
  [3, -1],
]);
const toyOutput = [2.761594, 1.992582, 2.995055, -0.857722];

function toyForward(options: Parameters<InstanceType<typeof MultiHeadAttention>["forward"]>[3]) {
  return withMultiHead({ embedDim: 2, numHeads: 2, bias: false }, identityState(2), (attention) =>
    attention.forward(toy, toy, toy, options),
  );
}

describe("a row with no permitted key", () => {
  test("weights 0, output 0", () => {
    expectEverywhere({ q: [1], k: [1, 2], v: [3, 5], mask: [false, false] }, [0], {
      weights: [0, 0],
      tolerance: exact,
    });
    expectEverywhere({ q: [1], k: [1, 2], v: [3, 5], mask: flat([-Infinity, -Infinity], 2) }, [0], {
      weights: [0, 0],
      tolerance: exact,
    });
  });

  test("the softmax of nothing but -Infinity is 0, whoever put it there", () => {
    expectTensor(softmax([5, 6], { mask: [false, false] }), [2], [0, 0], exact);
    expectTensor(softmax(flat([-Infinity, -Infinity], 2)), [2], [0, 0], exact);
  });

  test("left padding with causal makes such a row unasked", () => {
    const mask = [false, true, true];
    expectEverywhere({ q: none(3), k: none(3), v: [1, 3, 5], mask, causal: true }, [0, 3, 4], {
      weights: [0, 0, 0, 0, 1, 0, 0, 0.5, 0.5],
    });
  });

  test("the other rows of the batch are unchanged", () => {
    const [q, k, v] = [
      flat([1, 1], 2, 1, 1, 1),
      flat([1, 2, 1, 2], 2, 1, 2, 1),
      flat([3, 5, 3, 5], 2, 1, 2, 1),
    ];
    const whole = scaledDotProductAttention(q, k, v, { needWeights: true });
    const mask = flatBool([0, 0, 1, 1], 2, 1, 1, 2);
    const masked = scaledDotProductAttention(q, k, v, { mask, needWeights: true });
    expectTensor(at(masked.output, 0), [1, 1, 1], [0], exact);
    expectTensor(at(masked.weights as Tensor, 0), [1, 1, 2], [0, 0], exact);
    expectSameBits(at(masked.output, 1), at(whole.output, 1));
    expectSameBits(at(masked.weights as Tensor, 1), at(whole.weights as Tensor, 1));
  });

  test("in multi-head attention the output is the bias of the output projection", () => {
    const state = { ...identityState(2), in_proj_bias: zeros([6]), "out_proj.bias": flat([0.5, -4], 2) };
    withMultiHead({ embedDim: 2, numHeads: 2 }, state, (attention) => {
      for (const needWeights of [false, true]) {
        const { output, weights } = attention.forward(toy, toy, toy, {
          keyMask: [false, false],
          needWeights,
        });
        expectTensor(output, [2, 2], [0.5, -4, 0.5, -4], exact);
        expect(weights && numbers(weights)).toEqual(needWeights ? none(4) : undefined);
      }
    });
  });
});

describe("with weights and without", () => {
  test("the toy, each head's weights", () => {
    for (const averageWeights of [false, true]) {
      const { output, weights } = toyForward({ needWeights: true, averageWeights });
      expectTensor(output, [2, 2], toyOutput);
      const heads = [0.119203, 0.880797, 0.002473, 0.997527, 0.997527, 0.002473, 0.047426, 0.952574];
      const mean = [0.558365, 0.441635, 0.0249495, 0.9750505];
      expectTensor(weights as Tensor, averageWeights ? [2, 2] : [2, 2, 2], averageWeights ? mean : heads);
      expectSameBits(toyForward({}).output, output);
    }
  });

  test("the toy, causal", () => {
    for (const options of [{ causal: true }, { causal: true, needWeights: true }] as const) {
      expectTensor(toyForward(options).output, [2, 2], [1, 2, 2.995055, -0.857722]);
    }
    expectSameBits(
      toyForward({ causal: true, needWeights: true }).output,
      toyForward({ causal: true }).output,
    );
  });

  test("the second head wholly masked: the first is unchanged, the second is 0", () => {
    const mask = flatBool([1, 1, 1, 1, 0, 0, 0, 0], 2, 2, 2);
    const whole = toyForward({}).output;
    for (const needWeights of [false, true]) {
      const { output } = toyForward({ mask, needWeights });
      expectTensor(output, [2, 2], [2.761594, 0, 2.995055, 0]);
      expect([output.data[0], output.data[2]]).toEqual([whole.data[0], whole.data[2]]);
    }
  });
});

describe("causal alignment when L ≠ S", () => {
  const cases = [
    { L: 2, S: 5, topLeft: [1, 1.5], bottomRight: [2.5, 3] },
    { L: 5, S: 2, topLeft: [1, 1.5, 1.5, 1.5, 1.5], bottomRight: [0, 0, 0, 1, 1.5] },
    { L: 1, S: 4, topLeft: [1], bottomRight: [2.5] },
  ];

  test.each(cases)("L = $L, S = $S", ({ L, S, topLeft, bottomRight }) => {
    const lookup = { q: none(L), k: none(S), v: upTo(S) };
    expectEverywhere({ ...lookup, causal: "top-left" }, topLeft);
    expectEverywhere({ ...lookup, causal: "bottom-right" }, bottomRight);
    expectEverywhere({ ...lookup, mask: masks.causal(L, S, "top-left") }, topLeft);
    expectEverywhere({ ...lookup, mask: masks.causal(L, S, "bottom-right") }, bottomRight);
  });

  test.each(cases)("true is ambiguous for L = $L, S = $S", ({ L, S }) => {
    const [q, k] = [zeros([L, 1]), zeros([S, 1])];
    const shapes = RegExp(`${L}.*${S}`);
    expectError(() => scaledDotProductAttention(q, k, k, { causal: true }), "AMBIGUOUS_CAUSAL", shapes);
    expectError(() => scaledDotProductAttention.trace(q, k, k, { causal: true }), "AMBIGUOUS_CAUSAL", shapes);
    expectError(() => softmax(zeros([L, S]), { causal: true }), "AMBIGUOUS_CAUSAL", shapes);
    expectError(() => masks.causal(L, S), "AMBIGUOUS_CAUSAL", shapes);
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      expectError(() => attention.forward(q, k, k, { causal: true }), "AMBIGUOUS_CAUSAL", shapes);
    });
  });

  test("the same for L = S, whatever it is called", () => {
    for (const causal of [true, "top-left", "bottom-right"] as const) {
      expectEverywhere({ q: none(3), k: none(3), v: [1, 3, 5], causal }, [1, 2, 3]);
    }
    expect(numbers(masks.causal(3))).toEqual([1, 0, 0, 1, 1, 0, 1, 1, 1]);
    expect(masks.causal(3).shape).toEqual([3, 3]);
  });

  test("causal: false and undefined mask nothing", () => {
    expectEverywhere({ q: none(2), k: none(2), v: [1, 3], causal: false }, [2, 2]);
    expectEverywhere({ q: none(2), k: none(2), v: [1, 3] }, [2, 2]);
  });
});

describe("boolean polarity: true = may attend", () => {
  test("mask", () => {
    expectEverywhere({ q: [0], k: [0, 0], v: [1, 3], mask: [true, false] }, [1], { weights: [1, 0] });
    expectEverywhere({ q: [0], k: [0, 0], v: [1, 3], mask: [false, true] }, [3], { weights: [0, 1] });
  });

  test("keyMask, too; torch's key_padding_mask is the opposite", () => {
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      const forward = (keyMask: MaskLike) =>
        attention.forward([[0]], column(0, 0), column(1, 3), { keyMask }).output;
      expectTensor(forward([true, false]), [1, 1], [1]);
      const torchKeyPaddingMask = [true, false];
      expectTensor(forward(torchKeyPaddingMask.map((ignored) => !ignored)), [1, 1], [3]);
    });
  });
});

describe("the array's type decides between boolean and additive", () => {
  test("0 and 1 in a Float32Array are added", () => {
    const lookup = { q: [0], k: [0, 0], v: [1, 3] };
    expectEverywhere({ ...lookup, mask: Float32Array.of(1, 0) }, [1.537883], {
      weights: [0.731059, 0.268941],
    });
    expectEverywhere({ ...lookup, mask: Uint8Array.of(1, 0) }, [1], { weights: [1, 0] });
    expectEverywhere({ ...lookup, mask: [true, false] }, [1], { weights: [1, 0] });
  });

  test("any byte but 0 is true", () => {
    expectEverywhere({ q: [0], k: [0, 0], v: [1, 3], mask: Uint8Array.of(255, 0) }, [1], { weights: [1, 0] });
    expect(numbers(masks.toAdditive(Uint8Array.of(2, 0)))).toEqual([0, -Infinity]);
    expect(numbers(masks.and(Uint8Array.of(2, 3), Uint8Array.of(4, 0)))).toEqual([1, 0]);
  });

  test.each([
    ["Float64Array", new Float64Array(2)],
    ["Int8Array", new Int8Array(2)],
    ["Uint8ClampedArray", new Uint8ClampedArray(2)],
    ["Int32Array", new Int32Array(2)],
    ["plain numbers", [1, 0]],
    ["plain numbers with a shape", { data: [1, 0], shape: [2] }],
    ["a string", "10"],
    ["null", null],
    ["a DataView", new DataView(new ArrayBuffer(2))],
  ])("%s is neither", (_, mask) => {
    const options = { mask: mask as unknown as MaskLike };
    expectError(() => scaledDotProductAttention([[0]], column(0, 0), column(1, 3), options), "DTYPE", /mask/);
    expectError(() => softmax([0, 0], options), "DTYPE", /mask/);
    expectError(() => masks.and(options.mask), "DTYPE", /mask/);
    expectError(() => masks.toAdditive(options.mask), "DTYPE", /mask/);
  });
});

describe("a finite minus infinity", () => {
  test.each([-50000, -3e9, -3e38])("a masked key of score 0 does not win over a real one of %d", (score) => {
    expectEverywhere({ q: [1], k: [score, 0], v: [2, 9], mask: [true, false] }, [2], {
      weights: [1, 0],
      tolerance: exact,
    });
    expectEverywhere({ q: [1, 1], k: [score, 0], v: [2, 9], causal: true }, [2, 9], { tolerance: exact });
    const mask = flat([0, -Infinity], 2);
    expectEverywhere({ q: [1], k: [score, 0], v: [2, 9], mask }, [2], { tolerance: exact });
  });

  test("real scores far below any sentinel", () => {
    expectEverywhere({ q: [1], k: [-200000, -200001], v: [1, 0] }, [0.731059], {
      weights: [0.731059, 0.268941],
    });
  });

  test("-1e9 is a bias like any other", () => {
    // Both keys at -1e9: the bias cancels, and what float32 keeps of the scores is equal.
    expectEverywhere({ q: [0], k: [0, 0], v: [1, 3], mask: flat([-1e9, -1e9], 2) }, [2]);
    expectEverywhere({ q: [1], k: [-3e9, 0], v: [2, 9], mask: flat([0, -1e9], 2) }, [9], {
      tolerance: exact,
    });
  });
});

describe("rubbish in a masked place", () => {
  const rubbish = [NaN, Infinity, -Infinity, 3e38];

  test.each(rubbish)("%d behind a mask", (bad) => {
    const lookup = { q: [0], k: [0, bad], v: [4, bad] };
    expectEverywhere({ ...lookup, mask: [true, false] }, [4], { weights: [1, 0], tolerance: exact });
    expectEverywhere({ ...lookup, mask: flat([0, -Infinity], 2) }, [4], {
      weights: [1, 0],
      tolerance: exact,
    });
    expectEverywhere({ ...lookup, q: [1], mask: [true, false] }, [4], { weights: [1, 0], tolerance: exact });
  });

  test.each(rubbish)("%d in future tokens", (bad) => {
    const [k, v] = [
      [0, 0, bad],
      [1, 3, bad],
    ];
    for (const { output } of [
      scaledDotProductAttention(zeros([3, 1]), column(...k), column(...v), { causal: true }),
      scaledDotProductAttention(zeros([3, 1]), column(...k), column(...v), {
        causal: true,
        needWeights: true,
      }),
    ]) {
      expectClose(output.data.slice(0, 2), [1, 2], exact);
    }
  });

  test.each(rubbish)("%d in every key of a row without a key", (bad) => {
    expectEverywhere({ q: [1], k: [bad, bad], v: [bad, bad], mask: [false, false] }, [0], {
      weights: [0, 0],
      tolerance: exact,
    });
  });

  test.each(rubbish)("%d in masked scores", (bad) => {
    expectTensor(softmax(flat([0, bad, 0], 3), { mask: [true, false, true] }), [3], [0.5, 0, 0.5], exact);
    const causal = softmax(flat([0, bad, 0, 0], 2, 2), { causal: true });
    expectTensor(causal, [2, 2], [1, 0, 0.5, 0.5], exact);
  });

  test.each(rubbish)("%d in padded keys of a multi-head attention", (bad) => {
    withMultiHead({ embedDim: 2, numHeads: 2, bias: false }, identityState(2), (attention) => {
      const key = flat([1, 2, 3, -1, bad, bad], 3, 2);
      const want = attention.forward(toy, toy, toy).output;
      for (const needWeights of [false, true]) {
        expectSameBits(
          attention.forward(toy, key, key, { keyMask: [true, true, false], needWeights }).output,
          want,
        );
      }
    });
  });
});

describe("tails: S, L and D beside every block size", () => {
  const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 35, 63, 64, 65, 67, 127, 128, 129, 131];

  test.each([1, 3, 5, 8, 17])("D = %i: all v 1 gives 1", (D) => {
    for (const S of sizes) {
      for (const L of [1, 2, 5]) {
        const [q, k, v] = [zeros([L, D]), zeros([S, D]), flat(Array(S * D).fill(1), S, D)];
        const want = Array<number>(L * D).fill(1);
        expectClose(scaledDotProductAttention(q, k, v).output.data, want, { abs: 1e-6, rel: 0 });
        expectClose(scaledDotProductAttention(q, k, v, { needWeights: true }).output.data, want, {
          abs: 1e-6,
          rel: 0,
        });
      }
    }
  });

  test("many queries", () => {
    for (const L of sizes) {
      const v = flat(Array(L).fill(1), L, 1);
      const { output } = scaledDotProductAttention(zeros([L, 1]), zeros([L, 1]), v, { causal: true });
      expectClose(output.data, Array<number>(L).fill(1), { abs: 1e-6, rel: 0 });
    }
  });

  test("more than any stack holds: L = S = 128, D = 512", () => {
    const [L, D] = [128, 512];
    const v = flat(Array(L * D).fill(1), L, D);
    const { output } = scaledDotProductAttention(zeros([L, D]), zeros([L, D]), v);
    expectClose(output.data, Array<number>(L * D).fill(1), { abs: 1e-6, rel: 0 });
  });
});

describe("grouped queries: query head h reads key/value head ⌊h / (Hq / Hkv)⌋", () => {
  test("four over two", () => {
    const v = flat([10, 20], 1, 2, 1, 1);
    for (const needWeights of [false, true]) {
      const { output } = scaledDotProductAttention(zeros([1, 4, 1, 1]), zeros([1, 2, 1, 1]), v, {
        needWeights,
      });
      expectTensor(output, [1, 4, 1, 1], [10, 10, 20, 20], exact);
    }
    const trace = scaledDotProductAttention.trace(
      zeros([4, 1, 1]),
      zeros([2, 1, 1]),
      flat([10, 20], 2, 1, 1),
    );
    expectTensor(step(trace, "output"), [4, 1, 1], [10, 10, 20, 20], exact);
  });

  test("the keys are grouped like the values", () => {
    const [q, k] = [flat([1, 1, 1, 1], 4, 1, 1), flat([0, 50, 50, 0], 2, 2, 1)];
    const { output } = scaledDotProductAttention(q, k, flat([1, 2, 3, 4], 2, 2, 1));
    expectTensor(output, [4, 1, 1], [2, 2, 3, 3]);
  });

  test("one key/value head serves all", () => {
    const { output } = scaledDotProductAttention(zeros([4, 1, 1]), zeros([1, 1, 1]), flat([7], 1, 1, 1));
    expectTensor(output, [4, 1, 1], [7, 7, 7, 7], exact);
  });
});

describe("merging heads", () => {
  test("each token attends to itself: what goes in comes out", () => {
    const tokens = [1, 2, 3, 4];
    const x = flat([...tokens, ...tokens.map((value) => value + 10)], 2, 2, 2);
    withMultiHead({ embedDim: 2, numHeads: 2, bias: false }, identityState(2), (attention) => {
      const mask = flatBool(identity(2).data, 2, 2);
      for (const needWeights of [false, true]) {
        expectSameBits(attention.forward(x, x, x, { mask, needWeights }).output, x);
        expectSameBits(
          attention.forward(at(x, 0), at(x, 0), at(x, 0), { mask, needWeights }).output,
          at(x, 0),
        );
      }
    });
  });

  test("split and merge move the axis", () => {
    const x = flat(upTo(8), 1, 2, 4);
    const split = splitHeads(x, 2);
    expectTensor(split, [1, 2, 2, 2], [1, 2, 5, 6, 3, 4, 7, 8], exact);
    expectSameBits(mergeHeads(split), x);
    expectTensor(splitHeads(at(x, 0), 2), [2, 2, 2], [1, 2, 5, 6, 3, 4, 7, 8], exact);
    expectSameBits(mergeHeads(at(split, 0)), at(x, 0));
  });
});

describe("scale: 1/√(head dim), once", () => {
  const [q, k, v] = [flat([2, 0, 0, 0], 1, 4), flat([2, 0, 0, 0, 0, 0, 0, 0], 2, 4), column(1, 0)];

  test("by default", () => {
    expectTensor(scaledDotProductAttention(q, k, v).output, [1, 1], [0.880797]);
    expectTensor(scaledDotProductAttention(q, k, v, { needWeights: true }).output, [1, 1], [0.880797]);
    expectTensor(step(scaledDotProductAttention.trace(q, k, v), "scaled"), [1, 2], [2, 0]);
  });

  test("one's own replaces it", () => {
    for (const [scale, want] of [
      [0, 0.5],
      [1, 0.982014],
      [0.25, 0.731059],
      [-0.5, 0.119203],
    ] as const) {
      expectTensor(scaledDotProductAttention(q, k, v, { scale }).output, [1, 1], [want]);
      expectTensor(scaledDotProductAttention(q, k, v, { scale, needWeights: true }).output, [1, 1], [want]);
    }
  });

  test("of a head of the multi-head attention: E = 8, H = 2", () => {
    // Head 0 holds q and k; value 0 of each head is v.
    const query = flat([2, 0, 0, 0, 0, 0, 0, 0], 1, 8);
    const key = flat([2, 0, 0, 0, 0, 0, 0, 0, ...none(8)], 2, 8);
    const value = flat([1, 0, 0, 0, 0, 0, 0, 0, ...none(8)], 2, 8);
    withMultiHead({ embedDim: 8, numHeads: 2, bias: false }, identityState(8), (attention) => {
      for (const needWeights of [false, true]) {
        const { output } = attention.forward(query, key, value, { needWeights });
        expectTensor(output, [1, 8], [0.880797, ...none(7)]);
      }
    });
  });

  test("neither grouped queries nor the width of v change it", () => {
    const grouped = scaledDotProductAttention(
      flat([...q.data, ...q.data], 2, 1, 4),
      { data: k.data, shape: [1, 2, 4] },
      flat([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], 1, 2, 6),
    );
    expectTensor(grouped.output, [2, 1, 6], Array<number>(12).fill(0.880797));
  });
});

describe("large scores", () => {
  test.each([
    [100, 99, 0.731059],
    [1000, 999, 0.731059],
    [-1000, -1001, 0.731059],
    [0, 1000, 0],
    [1000, 0, 1],
    [1e30, -1e30, 1],
    [-1e30, 1e30, 0],
    [1e30, 1e30, 0.5],
    [-1e30, -1e30, 0.5],
    [3e38, -3e38, 1],
  ])("(%d, %d) with v = (1, 0)", (first, second, want) => {
    expectEverywhere({ q: [1], k: [first, second], v: [1, 0] }, [want], { weights: [want, 1 - want] });
    expectTensor(softmax(flat([first, second], 2)), [2], [want, 1 - want]);
  });

  test("scores of ±1e30 made of q and k", () => {
    expectEverywhere({ q: [1e15], k: [1e15, -1e15], v: [1, 0] }, [1], { tolerance: exact });
  });

  test("a product beyond float32 is no NaN", () => {
    expectEverywhere({ q: [1e30], k: [1e30, 1], v: [1, 0] }, [1], { tolerance: exact });
    expectEverywhere({ q: [1e30], k: [-1e30, 1], v: [1, 0] }, [0], { tolerance: exact });
    expectEverywhere({ q: [1e30], k: [1e30, 1e30], v: [1, 0] }, [0.5], { tolerance: exact });
    expectEverywhere({ q: [1], k: [Infinity, 0], v: [1, 0] }, [1], { tolerance: exact });
    expectEverywhere({ q: [1], k: [Infinity, Infinity], v: [1, 0] }, [0.5], { tolerance: exact });
  });

  test("only a mask makes a row without a key, however low its scores", () => {
    expectEverywhere({ q: [1e30], k: [-1e30, -1e30], v: [1, 3] }, [2], { tolerance: exact });
  });
});

describe("causal, padding and weights in every combination", () => {
  const padded = [false, true];

  test.each([
    [false, false, [2, 2]],
    [true, false, [1, 2]],
    [false, true, [3, 3]],
    [true, true, [0, 3]],
  ] as const)("causal %s, key 0 padded %s", (causal, pads, want) => {
    const lookup = { q: [0, 0], k: [0, 0], v: [1, 3], causal };
    expectEverywhere(pads ? { ...lookup, mask: padded } : lookup, [...want]);
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      for (const needWeights of [false, true]) {
        const options = { causal, needWeights, keyMask: pads ? padded : undefined };
        expectTensor(
          attention.forward(column(0, 0), column(0, 0), column(1, 3), options).output,
          [2, 1],
          [...want],
        );
        const batch = attention.forward(zeros([2, 2, 1]), zeros([2, 2, 1]), flat([1, 3, 1, 3], 2, 2, 1), {
          ...options,
          keyMask: pads ? [padded, [true, true]] : undefined,
        });
        const unpadded = causal ? [1, 2] : [2, 2];
        expectTensor(batch.output, [2, 2, 1], [...want, ...unpadded]);
      }
    });
  });
});

describe("causal and an explicit mask both apply", () => {
  test("their intersection", () => {
    const mask = boolTensor([
      [true, true],
      [false, true],
    ]);
    expectEverywhere({ q: [0, 0], k: [0, 0], v: [1, 3], causal: true, mask }, [1, 3], { tolerance: exact });
    expectEverywhere(
      { q: [0, 0], k: [0, 0], v: [1, 3], causal: true, mask: masks.toAdditive(mask) },
      [1, 3],
      {
        tolerance: exact,
      },
    );
    const both = masks.and(masks.causal(2), mask);
    expect(numbers(both)).toEqual([1, 0, 0, 1]);
    expectEverywhere({ q: [0, 0], k: [0, 0], v: [1, 3], mask: both }, [1, 3], { tolerance: exact });
  });

  test("all of mask, keyMask and causal", () => {
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      const mask = [
        [true, true, true],
        [false, true, true],
        [true, true, true],
      ];
      const options = { causal: true, mask, keyMask: [true, true, false] };
      const { output } = attention.forward(column(0, 0, 0), column(0, 0, 0), column(1, 3, 9), options);
      expectTensor(output, [3, 1], [1, 3, 2]);
    });
  });

  test("additive masks add up", () => {
    const half = Math.log(3) / 2;
    const sum = masks.and(flat([0, half], 2), flat([0, half], 2), [true, true]);
    expectEverywhere({ q: [0], k: [0, 0], v: [0, 4], mask: sum }, [3], { weights: [0.25, 0.75] });
  });
});

describe("the axes of the masks", () => {
  test("batch first: samples do not see each other", () => {
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      for (const needWeights of [false, true]) {
        const pair = flat([1, 5], 2, 1, 1);
        expectSameBits(attention.forward(pair, pair, pair, { needWeights }).output, pair);
        const zero = zeros([2, 3, 1]);
        const value = flat([1, 2, 3, 10, 20, 30], 2, 3, 1);
        expectTensor(
          attention.forward(zero, zero, value, { needWeights }).output,
          [2, 3, 1],
          [2, 2, 2, 20, 20, 20],
        );
      }
    });
  });

  test("a mask of the right length but no right shape is refused", () => {
    const [q, k] = [zeros([1, 2, 2, 1]), zeros([1, 2, 3, 1])];
    for (const shape of [
      [2],
      [5],
      [6],
      [12],
      [3, 2],
      [2, 2, 2],
      [2, 1, 2, 3],
      [1, 1, 1, 2, 3],
      [1, 3, 2, 3],
    ]) {
      const mask = { data: new Uint8Array(shape.reduce((product, size) => product * size, 1)), shape };
      const message = RegExp(`mask \\[${shape.join(", ")}\\].*\\[1, 2, 2, 3\\]`);
      expectError(() => scaledDotProductAttention(q, k, k, { mask }), "MASK_SHAPE", message);
      expectError(() => softmax(zeros([1, 2, 2, 3]), { mask }), "MASK_SHAPE", message);
    }
    for (const shape of [[3], [1], [2, 3], [1, 3], [2, 1], [1, 1], [2, 2, 3], [1, 1, 2, 3], [1, 2, 1, 1]]) {
      const mask = {
        data: new Uint8Array(shape.reduce((product, size) => product * size, 1)).fill(1),
        shape,
      };
      expectTensor(scaledDotProductAttention(q, k, k, { mask }).output, [1, 2, 2, 1], none(4), exact);
    }
  });

  test("B = L = S = 2: four bytes mean what their name says", () => {
    const bytes = [1, 0, 1, 1];
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      const [zero, value] = [zeros([2, 2, 1]), flat([1, 3, 1, 3], 2, 2, 1)];
      const keyMask = attention.forward(zero, zero, value, { keyMask: flatBool(bytes, 2, 2) }).output;
      expectTensor(keyMask, [2, 2, 1], [1, 1, 2, 2]);
      const mask = attention.forward(zero, zero, value, { mask: flatBool(bytes, 2, 2) }).output;
      expectTensor(mask, [2, 2, 1], [1, 2, 1, 2]);
      expectError(
        () => attention.forward(zero, zero, value, { keyMask: flatBool(bytes, 4) }),
        "MASK_SHAPE",
        /keyMask/,
      );
      expectError(
        () => attention.forward(zero, zero, value, { mask: flatBool(bytes, 4) }),
        "MASK_SHAPE",
        /mask/,
      );
    });
  });

  test("a broadcast mask is the expanded one, to the bit", () => {
    const [q, k, v] = [
      flat(upTo(12), 2, 2, 3, 1),
      flat(upTo(8).map(Math.sin), 2, 2, 2, 1),
      flat(upTo(8), 2, 2, 2, 1),
    ];
    for (const [own, expand] of [
      [flat([0.5, -1], 1, 1, 1, 2), (_b: number, _h: number, _i: number, j: number) => [0.5, -1][j]],
      [flat([0.5, -1], 2, 1, 1, 1), (b: number) => [0.5, -1][b]],
      [flat([0.5, -1], 2, 1, 1), (_b: number, h: number) => [0.5, -1][h]],
      [flat([0.5, -1, 2], 3, 1), (_b: number, _h: number, i: number) => [0.5, -1, 2][i]],
    ] as const) {
      const whole = [0, 1].flatMap((b) =>
        [0, 1].flatMap((h) => [0, 1, 2].flatMap((i) => [0, 1].map((j) => expand(b, h, i, j) as number))),
      );
      const broadcasted = scaledDotProductAttention(q, k, v, { mask: own, needWeights: true });
      const expanded = scaledDotProductAttention(q, k, v, {
        mask: flat(whole, 2, 2, 3, 2),
        needWeights: true,
      });
      expectSameBits(broadcasted.output, expanded.output);
      expectSameBits(broadcasted.weights as Tensor, expanded.weights as Tensor);
    }
  });
});

describe("masks.padding", () => {
  test("on the right and on the left", () => {
    expect(masks.padding([2, 0, 3], 3)).toEqual({
      data: Uint8Array.of(1, 1, 0, 0, 0, 0, 1, 1, 1),
      shape: [3, 1, 1, 3],
    });
    expect(masks.padding([2, 0, 3], 3, { side: "right" })).toEqual(masks.padding([2, 0, 3], 3));
    expect(numbers(masks.padding([2, 0, 3], 3, { side: "left" }))).toEqual([0, 1, 1, 0, 0, 0, 1, 1, 1]);
  });

  test("masks each sample by its own length", () => {
    const v = flat([1, 3, 8, 1, 3, 8], 2, 1, 3, 1);
    const mask = masks.padding([2, 3], 3);
    const { output } = scaledDotProductAttention(zeros([2, 1, 1, 1]), zeros([2, 1, 3, 1]), v, { mask });
    expectTensor(output, [2, 1, 1, 1], [2, 4]);
  });
});

describe("keyMask", () => {
  const single = { embedDim: 1, numHeads: 1, bias: false };

  test("a float mask is a bias; -Infinity is the boolean false", () => {
    withMultiHead(single, identityState(1), (attention) => {
      for (const needWeights of [false, true]) {
        const forward = (keyMask: MaskLike) =>
          attention.forward([[0]], column(0, 0), column(0, 4), { keyMask, needWeights });
        const biased = forward(flat([0, Math.log(3)], 2));
        expectTensor(biased.output, [1, 1], [3]);
        if (needWeights) {
          expectTensor(biased.weights as Tensor, [1, 2], [0.25, 0.75]);
        }
        expectTensor(forward(flat([0, -Infinity], 2)).output, [1, 1], [0], exact);
        expectSameBits(forward(flat([0, -Infinity], 2)).output, forward([true, false]).output);
      }
    });
  });

  test("never shortens the output", () => {
    withMultiHead(single, identityState(1), (attention) => {
      const [zero, value] = [zeros([2, 6, 1]), flat([...upTo(6), ...upTo(6)], 2, 6, 1)];
      const row = [true, true, true, true, false, false];
      for (const needWeights of [false, true]) {
        const { output, weights } = attention.forward(zero, zero, value, {
          keyMask: [row, row],
          needWeights,
        });
        expectTensor(output, [2, 6, 1], Array<number>(12).fill(2.5));
        expect(weights?.shape).toEqual(needWeights ? [2, 6, 6] : undefined);
      }
    });
  });

  test("with holes it is the same as an explicit mask", () => {
    withMultiHead(single, identityState(1), (attention) => {
      const [query, value] = [flat([0.5, -1, 2, 1], 1, 4, 1), flat(upTo(4), 1, 4, 1)];
      const row = [false, true, false, true];
      const byKeyMask = attention.forward(query, query, value, { keyMask: [row], needWeights: true });
      const byMask = attention.forward(query, query, value, {
        mask: [row, row, row, row],
        needWeights: true,
      });
      expectSameBits(byKeyMask.output, byMask.output);
      expectSameBits(byKeyMask.weights as Tensor, byMask.weights as Tensor);
      expect(numbers(rowSums(byKeyMask.weights as Tensor)).every((sum) => Math.abs(sum - 1) < 1e-6)).toBe(
        true,
      );
    });
  });
});

describe("empty dimensions", () => {
  test("L = 0 gives an empty result", () => {
    expectEverywhere({ q: [], k: [0, 0], v: [1, 3] }, [], { weights: [] });
    expectEverywhere({ q: [], k: [0, 0], v: [1, 3], mask: [true, false] }, [], { weights: [] });
  });

  test("S = 0 gives rows of 0", () => {
    expectEverywhere({ q: [1, 2], k: [], v: [] }, [0, 0], { weights: [], tolerance: exact });
    expectEverywhere({ q: [1, 2], k: [], v: [], causal: "bottom-right" }, [0, 0], { tolerance: exact });
    expectEverywhere({ q: [1, 2], k: [], v: [], causal: "top-left" }, [0, 0], { tolerance: exact });
  });

  test("L = S = 0, causal", () => {
    expectEverywhere({ q: [], k: [], v: [], causal: true }, [], { weights: [] });
    expect(masks.causal(0)).toEqual({ data: new Uint8Array(0), shape: [0, 0] });
  });

  test("B = 0 gives an empty result", () => {
    const { output, weights } = scaledDotProductAttention(
      zeros([0, 2, 3, 1]),
      zeros([0, 2, 4, 1]),
      zeros([0, 2, 4, 5]),
      {
        needWeights: true,
      },
    );
    expectTensor(output, [0, 2, 3, 5], []);
    expectTensor(weights as Tensor, [0, 2, 3, 4], []);
    withMultiHead({ embedDim: 2, numHeads: 2, bias: false }, identityState(2), (attention) => {
      const result = attention.forward(zeros([0, 3, 2]), zeros([0, 4, 2]), zeros([0, 4, 2]), {
        needWeights: true,
      });
      expectTensor(result.output, [0, 3, 2], []);
      expectTensor(result.weights as Tensor, [0, 3, 4], []);
    });
  });

  test("head dim 0 and no head at all are errors", () => {
    expectError(
      () => scaledDotProductAttention(zeros([1, 0]), zeros([1, 0]), zeros([1, 1])),
      "SHAPE",
      /q \[1, 0\]/,
    );
    expectError(
      () => scaledDotProductAttention(zeros([1, 1]), zeros([1, 1]), zeros([1, 0])),
      "SHAPE",
      /v \[1, 0\]/,
    );
    const [q, one] = [zeros([1, 0, 1, 1]), zeros([1, 1, 1, 1])];
    expectError(() => scaledDotProductAttention(q, one, one), "HEADS", /q \[1, 0, 1, 1\]/);
    expectError(() => scaledDotProductAttention(one, q, q), "HEADS", /k \[1, 0, 1, 1\]/);
    expectError(() => new MultiHeadAttention({ embedDim: 0, numHeads: 1 }), "OPTION", /embedDim/);
    expectError(() => new MultiHeadAttention({ embedDim: 2, numHeads: 0 }), "HEADS", /numHeads = 0/);
  });

  test("softmax and the small tools", () => {
    expectTensor(softmax(zeros([2, 0])), [2, 0], []);
    expectTensor(softmax([]), [0], []);
    expectTensor(rowSums(zeros([2, 0])), [2], [0, 0], exact);
    expectTensor(rowEntropies(zeros([2, 0])), [2], [0, 0], exact);
    expectTensor(
      rowEntropies([
        [0.5, 0.25, 0.25],
        [0, 1, 0],
      ]),
      [2],
      [1.5, 0],
      exact,
    );
    expectTensor(splitHeads(zeros([0, 4]), 2), [2, 0, 2], []);
    expectTensor(mergeHeads(zeros([2, 0, 2])), [0, 4], []);
    expect(masks.padding([], 3).shape).toEqual([0, 1, 1, 3]);
    expect(masks.padding([0], 0).shape).toEqual([1, 1, 1, 0]);
  });
});

describe("the packed in-projection", () => {
  test("its rows are q, k, v", () => {
    const state = { in_proj_weight: column(2, 5, 7), "out_proj.weight": [[1]] };
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, state, (attention) => {
      const { output, weights } = attention.forward(column(1, -1), column(1, -1), column(1, -1), {
        needWeights: true,
      });
      // scores of token 0: 2·5, −2·5; weight of its own key 1/(1 + e^−20)
      expect(output.data[0]).toBeCloseTo(7, 5);
      expect(weights?.data[0]).toBeCloseTo(1, 6);
    });
  });

  test("a weight is [out, in]", () => {
    const eye = identity(2).data;
    const state = {
      in_proj_weight: flat([...eye, ...eye, 1, 2, 3, 4], 6, 2),
      "out_proj.weight": identity(2),
    };
    withMultiHead({ embedDim: 2, numHeads: 1, bias: false }, state, (attention) => {
      expectTensor(attention.forward([[1, 0]], [[1, 0]], [[1, 0]]).output, [1, 2], [1, 3], exact);
    });
    const apart = { ...identityState(2), "out_proj.weight": flat([1, 2, 3, 4], 2, 2) };
    withMultiHead({ embedDim: 2, numHeads: 1, bias: false }, apart, (attention) => {
      expectTensor(attention.forward([[1, 0]], [[1, 0]], [[1, 0]]).output, [1, 2], [1, 3], exact);
    });
  });

  test("each bias is used once, in its place", () => {
    const state = { ...identityState(1), in_proj_bias: flat([1, 2, 4], 3), "out_proj.bias": flat([100], 1) };
    withMultiHead({ embedDim: 1, numHeads: 1 }, state, (attention) => {
      const trace = attention.trace(column(10, 20), column(30, 40), column(50, 60));
      expectTensor(step(trace, "query"), [2, 1], [11, 21], exact);
      expectTensor(step(trace, "key"), [2, 1], [32, 42], exact);
      expectTensor(step(trace, "value"), [2, 1], [54, 64], exact);
      // The second key wins by 11·10 in the score.
      expectTensor(step(trace, "output"), [2, 1], [164, 164], exact);
    });
  });
});

describe("widths that differ", () => {
  test("Ev ≠ E", () => {
    const v = tensor([
      [1, 2, 3],
      [3, 4, 5],
    ]);
    for (const needWeights of [false, true]) {
      expectTensor(
        scaledDotProductAttention([[0]], column(5, -5), v, { needWeights }).output,
        [1, 3],
        [2, 3, 4],
      );
    }
  });

  test("the output may be written over an input", () => {
    const x = flat([0, 0, 1, 3], 2, 2);
    const want = scaledDotProductAttention(x, x, x).output;
    const { output } = scaledDotProductAttention(x, x, x, { out: x.data });
    expect(output.data).toBe(x.data);
    expectSameBits(output, want);
  });

  test("kdim and vdim", () => {
    const state = {
      q_proj_weight: identity(2),
      k_proj_weight: flat([1, 0, 0, 0, 1, 0], 2, 3),
      v_proj_weight: flat([1, 10], 2, 1),
      "out_proj.weight": identity(2),
    };
    withMultiHead({ embedDim: 2, numHeads: 1, kdim: 3, vdim: 1, bias: false }, state, (attention) => {
      for (const needWeights of [false, true]) {
        const { output } = attention.forward([[0, 0]], zeros([2, 3]), column(1, 3), { needWeights });
        expectTensor(output, [1, 2], [2, 20]);
      }
    });
  });
});

describe("the same input twice", () => {
  test("gives the same bits", () => {
    const x = flat(upTo(24).map(Math.sin), 2, 3, 4);
    const attend = () => scaledDotProductAttention(x, x, x, { causal: true, needWeights: true });
    expectSameBits(attend().output, attend().output);
    expectSameBits(attend().weights as Tensor, attend().weights as Tensor);
    withMultiHead({ embedDim: 4, numHeads: 2, bias: false }, identityState(4), (attention) => {
      expectSameBits(attention.forward(x, x, x).output, attention.forward(x, x, x).output);
    });
  });
});

describe("arrays that JavaScript owns", () => {
  test("a result stays as it is when memory grows and when the next call comes", async () => {
    // An instance of its own, whose memory has not grown yet.
    const own = await load();
    const small = (v: number[]) =>
      own.scaledDotProductAttention(zeros([1, 1]), zeros([v.length, 1]), column(...v));
    const first = small([1, 3]);
    const { total } = own.memoryUsage();

    const wide = 2 ** 24; // 64 MiB
    const value = new Float32Array(wide);
    value[0] = 5;
    value[wide - 1] = 7;
    const big = own.scaledDotProductAttention([[0]], [[0]], { data: value, shape: [1, wide] });
    expect(own.memoryUsage().total).toBeGreaterThan(total + 2 ** 26);
    expect(own.memoryUsage().allocated).toBe(0);
    expect(big.output.shape).toEqual([1, wide]);
    expect([big.output.data[0], big.output.data[1], big.output.data[wide - 1]]).toEqual([5, 0, 7]);

    expectTensor(first.output, [1, 1], [2], exact);
    expectTensor(small([10, 30]).output, [1, 1], [20], exact);
    expectTensor(first.output, [1, 1], [2], exact);
    expect(big.output.data[wide - 1]).toBe(7);
  });

  test("on ordinary buffers of their own", () => {
    const { output, weights } = scaledDotProductAttention(zeros([2, 1]), zeros([3, 1]), column(1, 2, 3), {
      needWeights: true,
    });
    const trace = scaledDotProductAttention.trace(zeros([2, 1]), zeros([3, 1]), column(1, 2, 3));
    const all = [
      output.data,
      (weights as Tensor).data,
      ...trace.steps.map((passed) => passed.tensor.data),
      masks.causal(3).data,
      masks.toAdditive([true, false]).data,
      splitHeads([[1, 2]], 2).data,
    ];
    for (const { buffer, byteOffset, byteLength } of all) {
      expect(Object.prototype.toString.call(buffer)).toBe("[object ArrayBuffer]");
      expect([byteOffset, buffer.byteLength]).toEqual([0, byteLength]);
      expect((buffer as { resizable?: boolean }).resizable ?? false).toBe(false);
    }
    expect(new Set(all.map(({ buffer }) => buffer)).size).toBe(all.length);
  });

  test("what goes in is neither kept nor written to", () => {
    const v = column(1, 3);
    const { output } = scaledDotProductAttention([[0]], zeros([2, 1]), v);
    expect(numbers(v)).toEqual([1, 3]);
    v.data.fill(9);
    expectTensor(output, [1, 1], [2], exact);
    output.data.fill(-1);
    expect(numbers(v)).toEqual([9, 9]);

    const weight = identity(1);
    withMultiHead(
      { embedDim: 1, numHeads: 1, bias: false },
      { ...identityState(1), "out_proj.weight": weight },
      (own) => {
        weight.data.fill(100);
        expectTensor(own.forward([[1]], [[1]], [[3]]).output, [1, 1], [3], exact);
      },
    );
  });

  test("one array may be q, k and v at once", () => {
    const x = column(0, 0);
    expectTensor(scaledDotProductAttention(x, x, x).output, [2, 1], [0, 0], exact);
  });
});

describe("views into larger buffers", () => {
  const expectTwo = (q: TensorLike, k: TensorLike, v: TensorLike, mask?: MaskLike) => {
    expectTensor(scaledDotProductAttention(q, k, v, { mask }).output, [1, 1], [2], exact);
    expectTensor(scaledDotProductAttention(q, k, v, { mask, needWeights: true }).output, [1, 1], [2], exact);
  };
  const as = (data: Float32Array | Float64Array, ...shape: number[]) => ({ data, shape });

  test("subarrays begin at their byteOffset", () => {
    const big = Float32Array.of(9, 9, 1, 3);
    const noughts = Float32Array.of(9, 0, 0, 9);
    expectTwo(
      as(noughts.subarray(1, 2), 1, 1),
      as(noughts.subarray(1, 3), 2, 1),
      as(big.subarray(2, 4), 2, 1),
    );
    expectTwo([[0]], zeros([2, 1]), as(Float64Array.of(9, 1, 3).subarray(1), 2, 1));
    expectTensor(softmax(Float32Array.of(9, 9, 0, 0).subarray(2)), [2], [0.5, 0.5], exact);
  });

  test("masks, also at an odd byte", () => {
    const v = column(2, 50);
    expectTwo([[0]], zeros([2, 1]), v, Uint8Array.of(0, 1, 0).subarray(1));
    expectTwo([[0]], zeros([2, 1]), v, { data: Uint8Array.of(0, 0, 0, 1, 0).subarray(3), shape: [2] });
    expectTwo([[0]], zeros([2, 1]), v, Float32Array.of(-Infinity, 0, -Infinity).subarray(1));
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
      const keyMask = Uint8Array.of(0, 1, 0).subarray(1);
      expectTensor(attention.forward([[0]], zeros([2, 1]), v, { keyMask }).output, [1, 1], [2], exact);
    });
    expect(numbers(masks.and(Uint8Array.of(0, 1, 0).subarray(1)))).toEqual([1, 0]);
    expect(numbers(masks.toAdditive(Uint8Array.of(0, 1, 0).subarray(1)))).toEqual([0, -Infinity]);
  });

  test("parameters", () => {
    const state = { ...identityState(1), "out_proj.weight": as(Float32Array.of(9, 2).subarray(1), 1, 1) };
    withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, state, (attention) => {
      expectTensor(attention.forward([[0]], [[0]], [[1]]).output, [1, 1], [2], exact);
    });
  });

  test("another WebAssembly memory", () => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const view = new Float32Array(memory.buffer, 64, 2);
    view.set([1, 3]);
    expectTwo([[0]], zeros([2, 1]), as(view, 2, 1));
    const bytes = new Uint8Array(memory.buffer, 1001, 2);
    bytes.set([1, 0]);
    expectTwo([[0]], zeros([2, 1]), column(2, 50), bytes);
  });

  test("shared memory", () => {
    // Where SharedArrayBuffer is hidden, a shared WebAssembly memory still has one.
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    expect(Object.prototype.toString.call(memory.buffer)).toBe("[object SharedArrayBuffer]");
    const view = new Float32Array(memory.buffer, 64, 2);
    view.set([1, 3]);
    expectTwo([[0]], zeros([2, 1]), as(view, 2, 1));
    const bytes = new Uint8Array(memory.buffer, 1001, 2);
    bytes.set([1, 0]);
    expectTwo([[0]], zeros([2, 1]), column(2, 50), bytes);
  });
});

describe("kinds of arrays", () => {
  const attendTo = (v: unknown) => scaledDotProductAttention([[0]], [[0]], v as TensorLike).output;

  test.each([
    ["nested numbers", [[0.1]]],
    ["a Float64Array with a shape", { data: Float64Array.of(0.1), shape: [1, 1] }],
    ["numbers with a shape", { data: [0.1], shape: [1, 1] }],
    [
      "dims in place of shape, as onnxruntime has it",
      { data: Float32Array.of(0.1), dims: [1, 1], type: "float32" },
    ],
    ["a shape that is a typed array", { data: [0.1], shape: Int32Array.of(1, 1) }],
    ["a scijs ndarray", { data: Float32Array.of(9, 0.1), shape: [1, 1], stride: [1, 1], offset: 1 }],
  ])("%s is rounded to float32", (_, v) => {
    expectTensor(attendTo(v), [1, 1], [Math.fround(0.1)], exact);
  });

  test("bare typed arrays have one axis", () => {
    expectTensor(softmax(Float32Array.of(0, 0)), [2], [0.5, 0.5], exact);
    expectTensor(softmax(Float64Array.of(0, 0)), [2], [0.5, 0.5], exact);
  });

  test.each([
    ["Int32Array", Int32Array.of(1)],
    ["Uint8Array", Uint8Array.of(1)],
    ["Uint8ClampedArray", Uint8ClampedArray.of(1)],
    ["Uint16Array", Uint16Array.of(1)],
    ["BigInt64Array", BigInt64Array.of(1n)],
    ["DataView", new DataView(new ArrayBuffer(4))],
    ["ArrayBuffer", new ArrayBuffer(4)],
    ["text", ["a"]],
    ["digits in text", ["1"]],
    ["undefined", [undefined]],
    ["null", [null]],
    ["a hole", Array(1)],
    ["booleans", [true]],
    ["bigints", [1n]],
    ["an object", [{}]],
    ["a Set", new Set([1])],
  ])("%s is refused by name", (_, data) => {
    expectError(() => attendTo({ data, shape: [1, 1] }), "DTYPE", /^v\b/);
    expectError(() => attendTo(data instanceof Array ? [data] : data), "DTYPE", /^v\b/);
    expectError(() => softmax(data as unknown as TensorLike), "DTYPE", /^scores\b/);
  });

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["a string", "1"],
    ["a boolean", true],
    ["a function", () => 1],
    ["a symbol", Symbol("v")],
    ["an object without data", { shape: [1, 1] }],
    ["a promise", Promise.resolve([[1]])],
  ])("%s is refused by name", (_, v) => {
    expectError(() => attendTo(v), "DTYPE", /^v\b/);
  });

  test("a detached buffer is refused", () => {
    const data = Float32Array.of(1);
    structuredClone(data.buffer, { transfer: [data.buffer] });
    expect(data.length).toBe(0);
    expectError(() => attendTo({ data, shape: [1, 1] }), "SHAPE", /^v\b.*\[1, 1\]/);
    const mask = Uint8Array.of(1);
    structuredClone(mask.buffer, { transfer: [mask.buffer] });
    const options = { mask: { data: mask, shape: [1, 1] } };
    expectError(() => scaledDotProductAttention([[0]], [[0]], [[1]], options), "SHAPE", /mask.*\[1, 1\]/);
  });

  test("strides that are not C order are refused, never read wrongly", () => {
    const transposed = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2], stride: [1, 2], offset: 0 };
    expectError(() => softmax(transposed), "SHAPE", /scores \[2, 2\].*\[1, 2\]/);
    const reversed = { data: Float32Array.of(1, 2), shape: [2], stride: [-1], offset: 1 };
    expectError(() => softmax(reversed), "SHAPE", /scores \[2\].*\[-1\]/);
  });
});

describe("errors", () => {
  const [q, k, v] = [column(0), column(0, 0), column(1, 3)];
  const failing: [string, () => unknown][] = [
    ["a wrong length", () => scaledDotProductAttention({ data: new Float32Array(3), shape: [2, 1] }, k, v)],
    ["heads", () => scaledDotProductAttention(zeros([5, 1, 1]), zeros([2, 1, 1]), zeros([2, 1, 1]))],
    ["a negative size", () => scaledDotProductAttention({ data: [0], shape: [-1, -1] }, k, v)],
    ["NaN in a mask", () => scaledDotProductAttention(q, k, v, { mask: flat([NaN, 0], 2) })],
    ["an alignment", () => scaledDotProductAttention(q, k, v, { causal: true })],
  ];

  test.each([
    ["a wrong length", "SHAPE", /q.*3.*\[2, 1\]/],
    ["heads", "HEADS", /q \[5, 1, 1\], k \[2, 1, 1\]/],
    ["a negative size", "SHAPE", /q\.shape/],
    ["NaN in a mask", "MASK_VALUE", /mask \[2\]/],
    ["an alignment", "AMBIGUOUS_CAUSAL", /causal.*1.*2/],
  ] as const)("%s: an Error with code and message, and the next call is right", (name, code, message) => {
    const [, call] = failing.find(([title]) => title === name) as (typeof failing)[0];
    expectError(call, code, message);
    const error = caught(call);
    expect(error).toBeInstanceOf(Error);
    expect(Object.prototype.toString.call(error)).toBe("[object Error]");
    expect(error.stack).toContain("AttentionError");
    expect(error.message.length).toBeGreaterThan(16);
    expectTensor(scaledDotProductAttention(q, k, v).output, [1, 1], [2], exact);
  });

  test("a hundred thousand of them, spread over every family of calls, leave memory as it was", () => {
    const [one, two] = [zeros([1, 1, 1, 1]), zeros([1, 1, 2, 1])];
    using heads = new MultiHeadAttention({ embedDim: 2, numHeads: 2, bias: false });
    heads.loadStateDict(identityState(2));
    using layer = new GroupedQueryAttention({ hiddenSize: 2, numHeads: 1, rope: { layout: "half" } });
    const eye = identity(2);
    const state = { "q_proj.weight": eye, "k_proj.weight": eye, "v_proj.weight": eye, "o_proj.weight": eye };
    layer.loadStateDict(state);
    using cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: 1 });
    using wide = new KVCache({ batch: 1, numKvHeads: 1, headDim: 2, capacity: 1 });
    const poisoned = flat([NaN, 0], 2);
    const calls: (() => unknown)[] = [
      ...failing.map(([, call]) => call),
      () => heads.forward(toy, toy, toy, { keyMask: poisoned }),
      () => heads.trace(toy, toy, toy, { mask: poisoned }),
      () => heads.loadStateDict({ ...identityState(2), "out_proj.weight": column(1, 2) }),
      () => new MultiHeadAttention({ embedDim: 3, numHeads: 2 }),
      () => layer.forward(toy, { cache: wide }), // two tokens for one place, found after the projections
      () => layer.trace(toy, { keyMask: poisoned }),
      () => layer.loadStateDict({ ...state, more: eye }),
      () => new GroupedQueryAttention({ hiddenSize: 4, numHeads: 2, headDim: 3, rope: { layout: "half" } }),
      () => cache.append(two, two),
      () => scaledDotProductAttention(one, one, one, { cache, mask: flat([NaN], 1) }),
      () => new KVCache({ batch: 1, numKvHeads: 1, headDim: 0, capacity: 1 }),
      () => rope(toy, { layout: "half", positions: [0, -1] }),
      () => ropeTable({ positions: [0], dims: 3 }),
      () => rmsNorm(toy, { weight: [1, 2, 3] }),
      () => repeatKv(one, 0),
      () => splitHeads(toy, 3),
      () => softmax(toy, { mask: poisoned }),
      () => masks.and(poisoned),
      () => additiveAttention(toy, toy, toy, { W: eye, U: eye, v: [1, 1], mask: poisoned }),
      () => linearAttention(toy, toy, toy, { eps: -1 }),
      () => Attention({ Q: two, K: two, V: two, attn_mask: poisoned }),
      () =>
        RotaryEmbedding({
          input: zeros([1, 1, 1, 2]),
          cos_cache: [[1]],
          sin_cache: [[0]],
          position_ids: [[1]],
        }),
      () => RMSNormalization({ X: toy, scale: [1, 2, 3] }),
    ];
    const messages = new Set(calls.map((call) => caught(call).message));
    expect(messages.size).toBeGreaterThan(20);
    const before = memoryUsage();
    let count = 0;
    for (let i = 0; i < 100_000; i++) {
      try {
        (calls[i % calls.length] as () => unknown)();
      } catch (error) {
        count += error instanceof AttentionError ? 1 : 0;
      }
    }
    expect(count).toBe(100_000);
    expect(memoryUsage()).toEqual(before);
    expect([cache.length, wide.length]).toEqual([0, 0]);
    expectTensor(heads.forward(toy, toy, toy).output, [2, 2], toyOutput);
    expectTensor(
      scaledDotProductAttention(one, one, flat([3], 1, 1, 1, 1), { cache }).output,
      [1, 1, 1, 1],
      [3],
    );
  }, 120_000);

  test("what does not fit into memory is an error like any other", () => {
    expectError(() => masks.causal(2 ** 17), "OUT_OF_MEMORY", /131072/);
    expectError(
      () => scaledDotProductAttention.trace(zeros([2 ** 16, 1]), zeros([2 ** 16, 1]), zeros([2 ** 16, 1])),
      "OUT_OF_MEMORY",
      /65536/,
    );
    expectTensor(scaledDotProductAttention(q, k, v).output, [1, 1], [2], exact);
  });
});

describe("several instances", () => {
  test("work on their own", async () => {
    const [one, two] = [await load(), await load()];
    const config = { embedDim: 1, numHeads: 1, bias: false };
    const [first, second] = [new one.MultiHeadAttention(config), new two.MultiHeadAttention(config)];
    first.loadStateDict(identityState(1));
    second.loadStateDict({ ...identityState(1), "out_proj.weight": [[10]] });
    expect([one.memoryUsage().objects, two.memoryUsage().objects]).toEqual([1, 1]);
    expectTensor(first.forward([[0]], [[0]], [[3]]).output, [1, 1], [3], exact);
    expectTensor(second.forward([[0]], [[0]], [[3]]).output, [1, 1], [30], exact);
    first.dispose();
    expectTensor(second.forward([[0]], [[0]], [[3]]).output, [1, 1], [30], exact);
    expect([one.memoryUsage().objects, two.memoryUsage().objects]).toEqual([0, 1]);
    second.dispose();
    expect(two.memoryUsage().objects).toBe(0);
  });

  test("an object of one is a stranger to the other", async () => {
    const [one, two] = [await load(), await load()];
    const config = { embedDim: 1, numHeads: 1, bias: false };
    const foreign = new one.MultiHeadAttention(config);
    const here = two.MultiHeadAttention.prototype;
    expectError(
      () => here.forward.call(foreign, [[0]], [[0]], [[0]]),
      "FOREIGN_OBJECT",
      /MultiHeadAttention/,
    );
    expectError(
      () => here.loadStateDict.call(foreign, identityState(1)),
      "FOREIGN_OBJECT",
      /MultiHeadAttention/,
    );
    expect(one.memoryUsage().objects).toBe(1);
    foreign.dispose();
    expect(one.memoryUsage().objects).toBe(0);
  });
});

describe("no fast-math in the shipped binary", () => {
  test("NaN is NaN, in its own row only", () => {
    const q = flat([NaN, 0], 2, 1);
    const { output, weights } = scaledDotProductAttention(q, zeros([2, 1]), column(1, 3), {
      needWeights: true,
    });
    expectClose(output.data, [NaN, 2], exact);
    expectClose((weights as Tensor).data, [NaN, NaN, 0.5, 0.5], exact);
    expectClose(softmax(flat([NaN, 0, 0, 0], 2, 2)).data, [NaN, NaN, 0.5, 0.5], exact);
  });

  test("exp(-Infinity) is 0", () => {
    const trace = softmax.trace(flat([0, -Infinity], 2));
    expectTensor(step(trace, "exp"), [2], [1, 0], exact);
    expectTensor(step(trace, "weights"), [2], [1, 0], exact);
    expectTensor(step(softmax.trace([0, 0], { mask: [true, false] }), "masked"), [2], [0, -Infinity], exact);
  });

  test("a NaN or +Infinity in a mask is seen", () => {
    for (const bad of [NaN, Infinity]) {
      expectError(() => softmax([0, 0], { mask: flat([bad, 0], 2) }), "MASK_VALUE", /mask \[2\]/);
    }
  });

  test("NaN in v reaches whoever attends to it, and nobody else", () => {
    const { output } = scaledDotProductAttention(zeros([2, 1]), zeros([2, 1]), column(1, NaN), {
      causal: true,
    });
    expectClose(output.data, [1, NaN], byHand);
  });
});

test("the exponent of a growth: 3n² over unequal steps, and a line through 0, 1, 4 over 0, 1, 2 by hand", () => {
  expect(growthExponent([1, 2, 16], [3, 12, 768])).toBeCloseTo(2, 12);
  expect(growthExponent([1, 2, 4], [1, 2, 16])).toBeCloseTo(2, 12);
});
