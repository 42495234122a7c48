// Every argument of every function, wrong in every way: the right code, and a message that names the argument.

import { afterAll, describe, expect, test } from "vitest";
import {
  MultiHeadAttention,
  boolTensor,
  checkCausality,
  cost,
  dotProductMoments,
  errorCodes,
  faultyAttention,
  masks,
  mergeHeads,
  moments,
  randomNormal,
  growthExponent,
  rowEntropies,
  rowSums,
  scaledDotProductAttention,
  softmax,
  splitHeads,
  tensor,
  zeros,
  type ErrorCode,
  type MultiHeadAttentionConfig,
} from "softlookup";
import {
  expectRejection,
  expectTensor,
  flat,
  flatBool,
  identity,
  identityState,
  leavesNothingAlive,
} from "./support.js";
import {
  causalsThatAreNone,
  flagsThatAreNone,
  maskCases,
  optionCases,
  optionsThatAreNone,
  sizesThatAreNone,
  table,
  untyped,
  type Case,
} from "./tables.js";

leavesNothingAlive();

describe("scaledDotProductAttention", () => {
  const [q, k, v] = [zeros([2, 4]), zeros([3, 4]), zeros([3, 5])];
  const control = () =>
    expectTensor(scaledDotProductAttention(q, k, v).output, [2, 5], Array<number>(10).fill(0));

  describe.each([
    ["the call", (...args: unknown[]) => untyped(scaledDotProductAttention)(...args)],
    ["trace", (...args: unknown[]) => untyped(scaledDotProductAttention.trace)(...args)],
  ])("%s", (path, attend) => {
    const withMask = (mask: unknown) => attend(q, k, v, { mask });
    table(
      [
        ["no arguments", () => attend(), "DTYPE", /^q\b/],
        ["q: text", () => attend("q", k, v), "DTYPE", /^q\b/],
        ["k: null", () => attend(q, null, v), "DTYPE", /^k\b/],
        ["v: missing", () => attend(q, k), "DTYPE", /^v\b/],
        ["q: text inside", () => attend([["1"]], k, v), "DTYPE", /^q\b/],
        [
          "k: an Int32Array",
          () => attend(q, { data: new Int32Array(12), shape: [3, 4] }, v),
          "DTYPE",
          /^k\b.*Int32Array/,
        ],
        ["v: ragged rows", () => attend(q, k, [[1, 2], [3], [4, 5]]), "SHAPE", /^v\b/],
        ["q: no shape", () => attend({ data: new Float32Array(8) }, k, v), "SHAPE", /^q\b/],
        [
          "k: a fractional size",
          () => attend(q, { data: new Float32Array(12), shape: [1.5, 8] }, v),
          "SHAPE",
          /^k\b/,
        ],
        [
          "v: a negative size",
          () => attend(q, k, { data: new Float32Array(15), shape: [-3, -5] }),
          "SHAPE",
          /^v\b/,
        ],
        [
          "v: a size that is text",
          () => attend(q, k, { data: new Float32Array(15), shape: ["3", "5"] }),
          "SHAPE",
          /^v\b/,
        ],
        [
          "q: too few elements",
          () => attend({ data: new Float32Array(7), shape: [2, 4] }, k, v),
          "SHAPE",
          /^q\b.*7.*\[2, 4\]/,
        ],
        [
          "k: too many elements",
          () => attend(q, { data: new Float32Array(13), shape: [3, 4] }, v),
          "SHAPE",
          /^k\b.*13.*\[3, 4\]/,
        ],
        ["one axis", () => attend([1], [1], [1]), "RANK", /q \[1\].*2 to 4/],
        ["five axes", () => attend(zeros([1, 1, 1, 2, 4]), k, v), "RANK", /q \[1, 1, 1, 2, 4\].*2 to 4/],
        [
          "numbers of axes that differ",
          () => attend(q, zeros([1, 3, 4]), v),
          "RANK",
          /q \[2, 4\], k \[1, 3, 4\]/,
        ],
        ["head dims that differ", () => attend(q, zeros([3, 3]), v), "SHAPE", /q \[2, 4\], k \[3, 3\]/],
        ["numbers of keys that differ", () => attend(q, k, zeros([4, 5])), "SHAPE", /k \[3, 4\], v \[4, 5\]/],
        ["a head dim of 0", () => attend(zeros([2, 0]), zeros([3, 0]), v), "SHAPE", /q \[2, 0\]/],
        [
          "heads of k and v that differ",
          () => attend(zeros([2, 1, 4]), zeros([2, 1, 4]), zeros([1, 1, 4])),
          "SHAPE",
          /k \[2, 1, 4\], v \[1, 1, 4\]/,
        ],
        [
          "heads that do not divide",
          () => attend(zeros([5, 1, 4]), zeros([2, 1, 4]), zeros([2, 1, 4])),
          "HEADS",
          /q \[5, 1, 4\], k \[2, 1, 4\]/,
        ],
        [
          "more key heads than query heads",
          () => attend(zeros([2, 1, 4]), zeros([4, 1, 4]), zeros([4, 1, 4])),
          "HEADS",
          /q \[2, 1, 4\], k \[4, 1, 4\]/,
        ],
        [
          "batches that differ",
          () => attend(zeros([2, 1, 1, 4]), zeros([1, 1, 1, 4]), zeros([1, 1, 1, 4])),
          "SHAPE",
          /q \[2, 1, 1, 4\], k \[1, 1, 1, 4\]/,
        ],
        ...optionCases((options) => attend(q, k, v, options), {
          causal: { of: causalsThatAreNone },
          scale: {
            of: [
              ["text", "1"],
              ["NaN", NaN],
              ["infinite", Infinity],
              ["beyond float32", 1e39],
              ["null", null],
              ["a bigint", 1n],
            ],
          },
          needWeights: { of: path === "trace" ? [["unknown to trace", true]] : flagsThatAreNone },
        }),
        ...maskCases("mask", withMask, [2]),
        ["mask: NaN", () => withMask(flat([0, NaN, 0], 3)), "MASK_VALUE", /mask \[3\]/],
        ["mask: +Infinity", () => withMask(flat([0, 0, Infinity], 1, 3)), "MASK_VALUE", /mask \[1, 3\]/],
        [
          "mask: five axes",
          () => withMask(flatBool([1], 1, 1, 1, 1, 1)),
          "MASK_SHAPE",
          /mask \[1, 1, 1, 1, 1\].*\[1, 1, 2, 3\]/,
        ],
        ["causal: ambiguous", () => attend(q, k, v, { causal: true }), "AMBIGUOUS_CAUSAL", /causal.*2.*3/],
      ],
      control,
    );
  });
});

describe("softmax", () => {
  const scores = zeros([2, 3]);
  const third = Math.fround(1 / 3);
  const control = () => expectTensor(softmax(scores), [2, 3], Array<number>(6).fill(third));

  describe.each([
    ["the call", (...args: unknown[]) => untyped(softmax)(...args)],
    ["trace", (...args: unknown[]) => untyped(softmax.trace)(...args)],
    ["softmaxThenMask", (...args: unknown[]) => untyped(faultyAttention.softmaxThenMask)(...args)],
  ])("%s", (_, attend) => {
    const withMask = (mask: unknown) => attend(scores, { mask });
    table(
      [
        ["scores: missing", () => attend(), "DTYPE", /^scores\b/],
        ["scores: text", () => attend("1"), "DTYPE", /^scores\b/],
        ["scores: bytes", () => attend(new Uint8Array(3)), "DTYPE", /^scores\b/],
        ["scores: a bare number", () => attend(1), "RANK", /^scores \[\]/],
        ["scores: five axes", () => attend(zeros([1, 1, 1, 2, 3])), "RANK", /^scores \[1, 1, 1, 2, 3\]/],
        ...optionCases((options) => attend(scores, options), { causal: { of: causalsThatAreNone } }),
        ["options: scale belongs to attention", () => attend(scores, { scale: 1 }), "OPTION", /"scale"/],
        ...maskCases("mask", withMask, [2]),
        ["mask: NaN", () => withMask(flat([0, NaN, 0], 3)), "MASK_VALUE", /mask \[3\]/],
        ["causal: ambiguous", () => attend(scores, { causal: true }), "AMBIGUOUS_CAUSAL", /causal.*2.*3/],
      ],
      control,
    );
  });
});

describe("masks", () => {
  const control = () =>
    expect(masks.causal(2)).toEqual(
      boolTensor([
        [true, false],
        [true, true],
      ]),
    );
  const { causal, padding, and, toAdditive } = untyped(masks);

  describe("causal", () => {
    table(
      [
        ["L: missing", () => causal(), "OPTION", /\bL\b/],
        ...sizesThatAreNone.map(([name, value]): Case => [
          `L: ${name}`,
          () => causal(value),
          "OPTION",
          /\bL\b/,
        ]),
        ...sizesThatAreNone.map(([name, value]): Case => [
          `S: ${name}`,
          () => causal(2, value, "top-left"),
          "OPTION",
          /\bS\b/,
        ]),
        ["align: missing where L ≠ S", () => causal(2, 3), "AMBIGUOUS_CAUSAL", /2.*3/],
        ...causalsThatAreNone.map(([name, value]): Case => [
          `align: ${name}`,
          () => causal(2, 3, value),
          "OPTION",
          /align|causal/,
        ]),
        // No alignment: a "causal mask" that masks nothing.
        ["align: false", () => causal(2, 2, false), "OPTION", /align|causal/],
        [
          "L and S: beyond memory",
          () => causal(2 ** 30, 2 ** 30),
          "OUT_OF_MEMORY",
          /\[1073741824, 1073741824\]/,
        ],
      ],
      control,
    );
  });

  describe("padding", () => {
    table(
      [
        ["lengths: missing", () => padding(), "OPTION", /lengths/],
        ["lengths: a number", () => padding(2, 3), "OPTION", /lengths/],
        ...sizesThatAreNone.map(([name, value]): Case => [
          `lengths: ${name}`,
          () => padding([1, value], 3),
          "OPTION",
          /lengths/,
        ]),
        ["lengths: a hole", () => padding(Array(1), 3), "OPTION", /lengths/],
        ["lengths: above S", () => padding([1, 4], 3), "OPTION", /lengths\[1\] = 4.*S = 3/],
        ["S: missing", () => padding([1]), "OPTION", /\bS\b/],
        ...sizesThatAreNone.map(([name, value]): Case => [
          `S: ${name}`,
          () => padding([1], value),
          "OPTION",
          /\bS\b/,
        ]),
        ...optionCases((options) => padding([1], 3, options), {
          side: {
            of: [
              ["other text", "middle"],
              ["null", null],
              ["a number", 1],
              ["true", true],
            ],
          },
        }),
      ],
      control,
    );
  });

  describe("and", () => {
    table(
      [
        ["no mask", () => and(), "OPTION", /mask/],
        ["undefined", () => and([true], undefined), "DTYPE", /masks\[1\]/],
        ["numbers", () => and([true], [1]), "DTYPE", /masks\[1\]/],
        ["a Float64Array", () => and(new Float64Array(1)), "DTYPE", /masks\[0\]/],
        [
          "shapes that do not broadcast",
          () => and([true, false], [true, false, true]),
          "MASK_SHAPE",
          /mask.*\[2\].*3/,
        ],
        ["five axes", () => and(flatBool([1], 1, 1, 1, 1, 1)), "MASK_SHAPE", /mask.*\[1, 1, 1, 1, 1\]/],
        ["NaN", () => and([true, true], flat([0, NaN], 2)), "MASK_VALUE", /mask/],
        ["+Infinity", () => and(flat([0, Infinity], 2)), "MASK_VALUE", /mask/],
      ],
      control,
    );
  });

  describe("toAdditive", () => {
    table(
      [
        ["missing", () => toAdditive(), "DTYPE", /^mask\b/],
        ["numbers", () => toAdditive([1, 0]), "DTYPE", /^mask\b/],
        [
          "too few elements",
          () => toAdditive({ data: new Uint8Array(2), shape: [3] }),
          "SHAPE",
          /^mask\b.*2.*\[3\]/,
        ],
        ["NaN", () => toAdditive(flat([NaN], 1)), "MASK_VALUE", /^mask\b/],
      ],
      control,
    );
  });
});

describe("tensors", () => {
  const control = () => expect(tensor([[1], [2]])).toEqual({ data: Float32Array.of(1, 2), shape: [2, 1] });
  const [makeTensor, makeBoolTensor, makeZeros] = [untyped(tensor), untyped(boolTensor), untyped(zeros)];

  describe("tensor", () => {
    table(
      [
        ["missing", () => makeTensor(), "DTYPE", /nested/],
        ["null", () => makeTensor(null), "DTYPE", /nested/],
        ["text", () => makeTensor(["1"]), "DTYPE", /nested.*String/],
        ["booleans", () => makeTensor([true]), "DTYPE", /nested.*Boolean/],
        ["a hole", () => makeTensor(Array(1)), "DTYPE", /nested/],
        ["a typed array inside", () => makeTensor([new Float32Array(1)]), "DTYPE", /nested.*Float32Array/],
        ["ragged rows", () => makeTensor([[1, 2], [3]]), "SHAPE", /nested.*\[2, 2\]/],
        ["a row that is a number", () => makeTensor([[1, 2], 3]), "SHAPE", /nested.*\[2, 2\]/],
        ["a number that is a row", () => makeTensor([1, [2]]), "SHAPE", /nested.*\[2\]/],
      ],
      control,
    );
  });

  describe("boolTensor", () => {
    table(
      [
        ["missing", () => makeBoolTensor(), "DTYPE", /nested/],
        ["numbers", () => makeBoolTensor([1, 0]), "DTYPE", /nested.*Number/],
        ["ragged rows", () => makeBoolTensor([[true], [true, false]]), "SHAPE", /nested.*\[2, 1\]/],
      ],
      control,
    );
  });

  describe("zeros", () => {
    table(
      [
        ["missing", () => makeZeros(), "SHAPE", /shape/],
        ["a number", () => makeZeros(3), "SHAPE", /shape/],
        ...sizesThatAreNone.map(([name, value]): Case => [
          name,
          () => makeZeros([2, value]),
          "SHAPE",
          /shape/,
        ]),
        ["beyond memory", () => makeZeros([2 ** 30, 2 ** 30]), "OUT_OF_MEMORY", /\[1073741824, 1073741824\]/],
      ],
      control,
    );
  });
});

describe("small tools", () => {
  const control = () => expectTensor(rowSums([[1, 2]]), [1], [3]);
  const [split, merge, sums, entropies, growth, normal] = [
    untyped(splitHeads),
    untyped(mergeHeads),
    untyped(rowSums),
    untyped(rowEntropies),
    untyped(growthExponent),
    untyped(randomNormal),
  ];
  const [momentsOf, theory, attend] = [
    untyped(moments),
    untyped(dotProductMoments),
    untyped(faultyAttention),
  ];
  const x = zeros([2, 4]);

  table(
    [
      ["splitHeads, x: missing", () => split(), "DTYPE", /^x\b/],
      ["splitHeads, x: one axis", () => split([1, 2], 2), "RANK", /^x \[2\]/],
      ["splitHeads, x: four axes", () => split(zeros([1, 1, 2, 4]), 2), "RANK", /^x \[1, 1, 2, 4\]/],
      ["splitHeads, numHeads: missing", () => split(x), "OPTION", /numHeads/],
      ...sizesThatAreNone.map(([name, value]): Case => [
        `splitHeads, numHeads: ${name}`,
        () => split(x, value),
        "OPTION",
        /numHeads/,
      ]),
      ["splitHeads, numHeads: 0", () => split(x, 0), "HEADS", /numHeads = 0/],
      ["splitHeads, numHeads: does not divide", () => split(x, 3), "HEADS", /numHeads = 3.*\[.*2, 4\]/],
      ["mergeHeads, x: text", () => merge("x"), "DTYPE", /^x\b/],
      ["mergeHeads, x: two axes", () => merge(x), "RANK", /^x \[2, 4\]/],
      ["mergeHeads, x: five axes", () => merge(zeros([1, 1, 1, 2, 4])), "RANK", /^x \[1, 1, 1, 2, 4\]/],
      ["rowSums, x: null", () => sums(null), "DTYPE", /^x\b/],
      ["rowSums, x: a bare number", () => sums(1), "RANK", /^x \[\]/],
      ["rowEntropies, x: null", () => entropies(null), "DTYPE", /^x\b/],
      ["rowEntropies, x: a bare number", () => entropies(1), "RANK", /^x \[\]/],
      ["growthExponent, sizes: null", () => growth(null, [1]), "DTYPE", /^sizes\b/],
      ["growthExponent, values: text", () => growth([1, 2], "x"), "DTYPE", /^values\b/],
      [
        "growthExponent: lengths that differ",
        () => growth([1, 2], [1]),
        "SHAPE",
        /sizes \[2\], values \[1\]/,
      ],
      ["growthExponent: one size only", () => growth([3, 3], [1, 2]), "SHAPE", /two different sizes/],
      ["growthExponent: a value of 0", () => growth([1, 2], [0, 1]), "OPTION", /above 0/],
      ["randomNormal, shape: missing", () => normal(), "OPTION", /shape/],
      ["randomNormal, shape: a number", () => normal(3, 1), "OPTION", /shape/],
      ...sizesThatAreNone.map(([name, value]): Case => [
        `randomNormal, shape: ${name}`,
        () => normal([2, value], 1),
        "OPTION",
        /shape/,
      ]),
      [
        "randomNormal, shape: beyond memory",
        () => normal([2 ** 30, 2 ** 30], 1),
        "OUT_OF_MEMORY",
        /shape \[1073741824, 1073741824\]/,
      ],
      ["randomNormal, seed: missing", () => normal([2]), "OPTION", /seed/],
      ...sizesThatAreNone.map(([name, value]): Case => [
        `randomNormal, seed: ${name}`,
        () => normal([2], value),
        "OPTION",
        /seed/,
      ]),
      ["moments, x: undefined", () => momentsOf(undefined), "DTYPE", /^x\b/],
      ["moments, x: empty", () => momentsOf([]), "SHAPE", /^x \[0\]/],
      ["dotProductMoments, headDim: 0", () => theory(0, 1), "OPTION", /headDim/],
      ...sizesThatAreNone.map(([name, value]): Case => [
        `dotProductMoments, headDim: ${name}`,
        () => theory(value, 1),
        "OPTION",
        /headDim/,
      ]),
      ["dotProductMoments, samples: 0", () => theory(1, 0), "OPTION", /samples/],
      ["dotProductMoments, samples: missing", () => theory(1), "OPTION", /samples/],
      ["faultyAttention, fault: missing", () => attend(), "DTYPE", /^q\b/],
      [
        "faultyAttention, fault: unknown",
        () => attend("nothing-wrong", x, x, x),
        "OPTION",
        /fault.*"nothing-wrong"/,
      ],
      ["faultyAttention, fault: no text", () => attend(1, x, x, x), "OPTION", /fault/],
      ["faultyAttention, q: text", () => attend("no-mask", "q", x, x), "DTYPE", /^q\b/],
      [
        "faultyAttention, k: a wrong width",
        () => attend("no-mask", x, zeros([2, 3]), x),
        "SHAPE",
        /q \[2, 4\], k \[2, 3\]/,
      ],
      [
        "faultyAttention, v: too few rows",
        () => attend("no-mask", x, x, zeros([1, 4])),
        "SHAPE",
        /k \[2, 4\], v \[1, 4\]/,
      ],
    ],
    control,
  );
});

describe("cost", () => {
  const whole = {
    parameters: { modelDim: 12, numHeads: 4, numKvHeads: 2, headDim: 3 },
    scoresMemory: { length: 4, numHeads: 2, batch: 1, bytesPerElement: 2 },
    kvCacheMemory: { length: 4, layers: 1, numKvHeads: 2, headDim: 3, batch: 1, bytesPerElement: 2 },
    operations: { length: 4, modelDim: 12 },
    decodeOperations: { length: 4, modelDim: 12 },
  };
  const optional = ["numKvHeads", "headDim"];
  const control = () => expect(cost.scoresMemory(whole.scoresMemory)).toEqual({ elements: 32, bytes: 64 });

  describe.each(Object.entries(whole))("%s", (name, size) => {
    const count = untyped(cost)[name];
    table(
      [
        ...optionsThatAreNone.map(([what, value]): Case => [
          `not an object: ${what}`,
          () => count(value),
          "OPTION",
          /options|size|layer/,
        ]),
        ["missing", () => count(), "OPTION", /length|modelDim/],
        ["an unknown name", () => count({ ...size, width: 1 }), "OPTION", /"width"/],
        ...Object.keys(size).flatMap((field): Case[] => [
          ...sizesThatAreNone.map(([what, value]): Case => [
            `${field}: ${what}`,
            () => count({ ...size, [field]: value }),
            "OPTION",
            RegExp(field),
          ]),
          ...(name === "parameters" && optional.includes(field)
            ? []
            : [
                [
                  `${field}: missing`,
                  () => count({ ...size, [field]: undefined }),
                  "OPTION",
                  RegExp(field),
                ] as Case,
              ]),
        ]),
      ],
      control,
    );
  });

  describe("parameters: flags and heads", () => {
    const count = untyped(cost).parameters;
    table(
      [
        ...["bias", "qkNorm"].flatMap((flag) =>
          flagsThatAreNone.map(([what, value]): Case => [
            `${flag}: ${what}`,
            () => count({ modelDim: 12, numHeads: 4, [flag]: value }),
            "OPTION",
            RegExp(flag),
          ]),
        ),
        ["numHeads: 0", () => count({ modelDim: 12, numHeads: 0 }), "HEADS", /numHeads/],
        ["numHeads: does not divide", () => count({ modelDim: 12, numHeads: 5 }), "HEADS", /numHeads.*5/],
        [
          "numKvHeads: does not divide",
          () => count({ modelDim: 12, numHeads: 4, numKvHeads: 3 }),
          "HEADS",
          /numKvHeads.*3/,
        ],
      ],
      control,
    );
  });
});

describe("MultiHeadAttention", () => {
  const config = { embedDim: 2, numHeads: 2, bias: false };
  const attention = new MultiHeadAttention(config);
  attention.loadStateDict(identityState(2));
  const empty = new MultiHeadAttention(config);
  const wide = new MultiHeadAttention({ embedDim: 2, numHeads: 1, bias: false, kdim: 3, vdim: 5 });
  wide.loadStateDict({
    q_proj_weight: identity(2),
    k_proj_weight: zeros([2, 3]),
    v_proj_weight: zeros([2, 5]),
    "out_proj.weight": identity(2),
  });
  const disposed = new MultiHeadAttention(config);
  disposed.loadStateDict(identityState(2));
  disposed.dispose();
  afterAll(() => {
    for (const alive of [attention, empty, wide]) {
      alive.dispose();
    }
  });

  const one = flat([1, 2], 1, 2);
  const control = () => expectTensor(attention.forward(one, one, one).output, [1, 2], [1, 2]);

  describe("new", () => {
    const create = (given: unknown) => {
      new (MultiHeadAttention as new (given: unknown) => { dispose(): void })(given).dispose();
    };
    const positive = ["embedDim", "numHeads", "kdim", "vdim"];
    const flags = ["bias", "addBiasKv", "addZeroAttn"];
    table(
      [
        ["config: missing", () => create(undefined), "OPTION", /embedDim/],
        ...optionsThatAreNone.map(([what, value]): Case => [
          `config: ${what}`,
          () => create(value),
          "OPTION",
          /options|config/,
        ]),
        ["an unknown name", () => create({ ...config, batchFirst: true }), "OPTION", /"batchFirst"/],
        ["embedDim: missing", () => create({ numHeads: 1 }), "OPTION", /embedDim/],
        ["numHeads: missing", () => create({ embedDim: 1 }), "OPTION", /numHeads/],
        ...positive.flatMap((field) =>
          sizesThatAreNone.map(([what, value]): Case => [
            `${field}: ${what}`,
            () => create({ ...config, [field]: value }),
            "OPTION",
            RegExp(field),
          ]),
        ),
        ...["embedDim", "kdim", "vdim"].map((field): Case => [
          `${field}: 0`,
          () => create({ ...config, [field]: 0 }),
          "OPTION",
          RegExp(field),
        ]),
        ...flags.flatMap((flag) =>
          flagsThatAreNone.map(([what, value]): Case => [
            `${flag}: ${what}`,
            () => create({ ...config, [flag]: value }),
            "OPTION",
            RegExp(flag),
          ]),
        ),
        ["numHeads: 0", () => create({ ...config, numHeads: 0 }), "HEADS", /numHeads = 0/],
        [
          "numHeads: does not divide",
          () => create({ embedDim: 8, numHeads: 3 }),
          "HEADS",
          /numHeads = 3.*embedDim = 8/,
        ],
        [
          "numHeads: above embedDim",
          () => create({ embedDim: 2, numHeads: 4 }),
          "HEADS",
          /numHeads = 4.*embedDim = 2/,
        ],
      ],
      control,
    );

    test("without new", () => {
      const construct = MultiHeadAttention as unknown as (config: MultiHeadAttentionConfig) => unknown;
      expect(() => construct(config)).toThrow(TypeError);
    });
  });

  describe("loadStateDict", () => {
    const load = (state: unknown) => untyped(attention).loadStateDict(state);
    const state = identityState(2);
    const without = (name: string) =>
      Object.fromEntries(Object.entries(state).filter(([key]) => key !== name));
    table(
      [
        ["missing", () => load(undefined), "STATE_DICT", /state/],
        ["null", () => load(null), "STATE_DICT", /state/],
        ["empty", () => load({}), "STATE_DICT", /_proj_weight/],
        ["in_proj_weight: missing", () => load(without("in_proj_weight")), "STATE_DICT", /_proj_weight/],
        [
          "out_proj.weight: missing",
          () => load(without("out_proj.weight")),
          "STATE_DICT",
          /out_proj\.weight/,
        ],
        [
          "unexpected: a bias",
          () => load({ ...state, in_proj_bias: zeros([6]) }),
          "STATE_DICT",
          /in_proj_bias/,
        ],
        ["unexpected: bias_k", () => load({ ...state, bias_k: zeros([1, 1, 2]) }), "STATE_DICT", /bias_k/],
        [
          "unexpected: packed and apart",
          () => load({ ...state, q_proj_weight: identity(2) }),
          "STATE_DICT",
          /q_proj_weight/,
        ],
        [
          "unexpected: another name",
          () => load({ ...state, "attn.out_proj.weight": identity(2) }),
          "STATE_DICT",
          /attn\.out_proj\.weight/,
        ],
        [
          "in_proj_weight: a wrong shape",
          () => load({ ...state, in_proj_weight: zeros([2, 6]) }),
          "SHAPE",
          /in_proj_weight.*\[2, 6\].*\[6, 2\]/,
        ],
        [
          "out_proj.weight: a wrong rank",
          () => load({ ...state, "out_proj.weight": zeros([4]) }),
          "SHAPE",
          /out_proj\.weight.*\[4\].*\[2, 2\]/,
        ],
        [
          "out_proj.weight: text",
          () => load({ ...state, "out_proj.weight": "x" }),
          "DTYPE",
          /out_proj\.weight/,
        ],
        [
          "out_proj.weight: integers",
          () => load({ ...state, "out_proj.weight": { data: new Int8Array(4), shape: [2, 2] } }),
          "DTYPE",
          /out_proj\.weight.*Int8Array/,
        ],
        [
          "out_proj.weight: undefined",
          () => load({ ...state, "out_proj.weight": undefined }),
          "DTYPE",
          /out_proj\.weight/,
        ],
        [
          "in_proj_weight where kdim and vdim differ",
          () => wide.loadStateDict(state),
          "STATE_DICT",
          /q_proj_weight|in_proj_weight/,
        ],
      ],
      control,
    );
  });

  describe.each([
    ["forward", (...args: unknown[]) => untyped(attention).forward(...args)],
    ["trace", (...args: unknown[]) => untyped(attention).trace(...args)],
  ])("%s", (path, attend) => {
    const [query, key, value] = [zeros([2, 2]), zeros([3, 2]), zeros([3, 2])];
    const batch = (n: number, length: number, width = 2) => zeros([n, length, width]);
    const withOptions = (options: unknown) => attend(query, key, value, options);
    const only =
      path === "forward" ? flagsThatAreNone : ([["unknown to trace", true]] as [string, unknown][]);
    table(
      [
        ["no arguments", () => attend(), "DTYPE", /^query\b/],
        ["query: text", () => attend("q", key, value), "DTYPE", /^query\b/],
        ["key: missing", () => attend(query), "DTYPE", /^key\b/],
        ["value: null", () => attend(query, key, null), "DTYPE", /^value\b/],
        [
          "query: too few elements",
          () => attend({ data: new Float32Array(3), shape: [2, 2] }, key, value),
          "SHAPE",
          /^query\b.*3.*\[2, 2\]/,
        ],
        ["one axis", () => attend([1, 2], [1, 2], [1, 2]), "RANK", /query \[2\]/],
        [
          "four axes",
          () => attend(zeros([1, 1, 2, 2]), zeros([1, 1, 2, 2]), zeros([1, 1, 2, 2])),
          "RANK",
          /query \[1, 1, 2, 2\]/,
        ],
        [
          "numbers of axes that differ",
          () => attend(batch(1, 2), key, value),
          "RANK",
          /query \[1, 2, 2\], key \[3, 2\]/,
        ],
        ["query: a wrong width", () => attend(zeros([2, 3]), key, value), "SHAPE", /query \[2, 3\].*2/],
        ["key: a wrong width", () => attend(query, zeros([3, 3]), value), "SHAPE", /key \[3, 3\].*2/],
        ["value: a wrong width", () => attend(query, key, zeros([3, 1])), "SHAPE", /value \[3, 1\].*2/],
        [
          "key and value: lengths that differ",
          () => attend(query, key, zeros([4, 2])),
          "SHAPE",
          /key \[3, 2\], value \[4, 2\]/,
        ],
        [
          "key: another batch",
          () => attend(batch(2, 2), batch(1, 3), batch(2, 3)),
          "SHAPE",
          /query \[2, 2, 2\], key \[1, 3, 2\]/,
        ],
        [
          "value: another batch",
          () => attend(batch(2, 2), batch(2, 3), batch(3, 3)),
          "SHAPE",
          /value \[3, 3, 2\]/,
        ],
        ...optionCases(withOptions, {
          causal: { of: causalsThatAreNone },
          needWeights: { of: only },
          averageWeights: { of: only },
          headByHead: { of: only },
        }),
        ["options: scale is fixed", () => withOptions({ scale: 1 }), "OPTION", /"scale"/],
        ["causal: ambiguous", () => withOptions({ causal: true }), "AMBIGUOUS_CAUSAL", /causal.*2.*3/],
        ...maskCases("mask", (mask) => withOptions({ mask }), [2]),
        ...maskCases("keyMask", (keyMask) => withOptions({ keyMask }), [2]),
        ["mask: NaN", () => withOptions({ mask: flat([0, NaN, 0], 3) }), "MASK_VALUE", /\bmask \[3\]/],
        ["keyMask: NaN", () => withOptions({ keyMask: flat([0, NaN, 0], 3) }), "MASK_VALUE", /\bkeyMask\b/],
        [
          "keyMask: +Infinity",
          () => withOptions({ keyMask: flat([Infinity, 0, 0], 3) }),
          "MASK_VALUE",
          /\bkeyMask\b/,
        ],
        [
          "keyMask: [S] beside a batch",
          () => attend(batch(2, 2), batch(2, 3), batch(2, 3), { keyMask: [true, true, true] }),
          "MASK_SHAPE",
          /keyMask \[3\].*\[2, 3\]/,
        ],
        [
          "keyMask: another batch",
          () => attend(batch(2, 2), batch(2, 3), batch(2, 3), { keyMask: [[true, true, true]] }),
          "MASK_SHAPE",
          /keyMask \[1, 3\].*\[2, 3\]/,
        ],
        [
          "mask: [B, S] is no [L, S]",
          () => attend(batch(3, 2), batch(3, 3), batch(3, 3), { mask: flatBool(Array(9).fill(1), 3, 3) }),
          "MASK_SHAPE",
          /mask \[3, 3\].*\[3, 2, 2, 3\]/,
        ],
      ],
      control,
    );
  });

  describe("the wrong object", () => {
    const calls = (target: InstanceType<typeof MultiHeadAttention>): [string, () => unknown][] => [
      ["loadStateDict", () => target.loadStateDict(identityState(2))],
      ["forward", () => target.forward(one, one, one)],
      ["trace", () => target.trace(one, one, one)],
    ];
    const { loadStateDict, forward, trace, dispose } = MultiHeadAttention.prototype;
    const foreign = (self: unknown): [string, () => unknown][] => [
      ["loadStateDict", () => loadStateDict.call(untyped(self), identityState(2))],
      ["forward", () => forward.call(untyped(self), one, one, one)],
      ["trace", () => trace.call(untyped(self), one, one, one)],
      ["dispose", () => dispose.call(untyped(self))],
    ];
    table(
      [
        ...calls(empty)
          .slice(1)
          .map(([name, call]): Case => [`${name} before loadStateDict`, call, "STATE_DICT", /loadStateDict/]),
        ...calls(disposed).map(([name, call]): Case => [
          `${name} after dispose`,
          call,
          "DISPOSED",
          /MultiHeadAttention/,
        ]),
        ...(
          [
            ["undefined", undefined],
            ["an object", {}],
            ["an heir without a handle", Object.create(MultiHeadAttention.prototype)],
          ] as [string, unknown][]
        ).flatMap(([what, self]) =>
          foreign(self).map(([name, call]): Case => [
            `${name} on ${what}`,
            call,
            "FOREIGN_OBJECT",
            /MultiHeadAttention|softlookup/,
          ]),
        ),
      ],
      control,
    );
  });
});

describe("checkCausality", () => {
  const input = zeros([3, 1]);
  const check = untyped(checkCausality);
  const same = (x: unknown) => x;
  const option = (name: string, value: unknown) => () => check(same, input, { [name]: value });

  test.each<[string, () => Promise<unknown>, ErrorCode, RegExp]>([
    ["fn: missing", () => check(), "FUNCTION", /\bfn\b/],
    ["fn: an object", () => check({}, input), "FUNCTION", /\bfn\b/],
    ["input: missing", () => check(same), "DTYPE", /input/],
    ["input: null", () => check(same, null), "DTYPE", /input/],
    ["input: text", () => check(same, "123"), "DTYPE", /input/],
    ["input: text inside", () => check(same, [["1"]]), "DTYPE", /input/],
    ["input: no tensor", () => check(same, {}), "DTYPE", /input/],
    ["input: one of them is none", () => check(same, { k: input, v: "v" }), "DTYPE", /^v\b/],
    ["input: ragged rows", () => check(same, [[1], [2, 3]]), "SHAPE", /input/],
    ["input: no sequence axis", () => check(same, [1, 2, 3]), "OPTION", /"input".*axis -2/],
    [
      "input: lengths that differ",
      () => check(same, { k: input, v: zeros([4, 1]) }),
      "SHAPE",
      /lengths.*3.*4/,
    ],
    ...optionsThatAreNone.map(([what, value]): [string, () => Promise<unknown>, ErrorCode, RegExp] => [
      `options: ${what}`,
      () => check(same, input, value),
      "OPTION",
      /options/,
    ]),
    ["options: an unknown name", option("cut", [1]), "OPTION", /"cut"/],
    ...["cuts", "modes", "magnitudes", "replace", "tolerance", "axis", "seed"].map(
      (name): [string, () => Promise<unknown>, ErrorCode, RegExp] => [
        `${name}: null`,
        option(name, null),
        "OPTION",
        RegExp(`^${name}\\b`),
      ],
    ),
    ["cuts: a number", option("cuts", 1), "OPTION", /cuts/],
    ["cuts: negative", option("cuts", [-1]), "OPTION", /cuts.*-1/],
    ["cuts: beyond the end", option("cuts", [3]), "OPTION", /cuts.*3/],
    ["cuts: fractional", option("cuts", [0.5]), "OPTION", /cuts.*0\.5/],
    ["cuts: text", option("cuts", ["1"]), "OPTION", /cuts/],
    ["modes: a number", option("modes", 1), "OPTION", /modes/],
    ["modes: text", option("modes", "large"), "OPTION", /modes/],
    ["modes: unknown", option("modes", ["huge"]), "OPTION", /modes.*"huge"/],
    ["magnitudes: a number", option("magnitudes", 100), "OPTION", /magnitudes/],
    ["magnitudes: text", option("magnitudes", ["a"]), "OPTION", /magnitudes/],
    // Each of these would replace tokens by themselves, or by what only "nan" may put there.
    ["magnitudes: 0", option("magnitudes", [0]), "OPTION", /magnitudes/],
    ["magnitudes: NaN", option("magnitudes", [NaN]), "OPTION", /magnitudes/],
    ["magnitudes: infinite", option("magnitudes", [Infinity]), "OPTION", /magnitudes/],
    ["magnitudes: beyond float32", option("magnitudes", [1e39]), "OPTION", /magnitudes/],
    // A check that replaces nothing finds nothing, and must not say "causal".
    ["modes: none", option("modes", []), "OPTION", /modes/],
    [
      "magnitudes: none",
      () => check(same, input, { modes: ["large"], magnitudes: [] }),
      "OPTION",
      /magnitudes/,
    ],
    ["replace: none", option("replace", []), "OPTION", /replace/],
    ["replace: text", option("replace", "input"), "OPTION", /replace/],
    ["replace: unknown", option("replace", ["q"]), "OPTION", /replace.*"q"/],
    ["replace: numbers", option("replace", [0]), "OPTION", /replace.*"0"/],
    ["modes: null in it", option("modes", [null]), "OPTION", /modes.*"null"/],
    ["magnitudes: null in it", option("magnitudes", [null]), "OPTION", /magnitudes.*null/],
    ["tolerance: negative", option("tolerance", -1), "OPTION", /tolerance/],
    ["tolerance: NaN", option("tolerance", NaN), "OPTION", /tolerance/],
    ["tolerance: infinite, which allows everything", option("tolerance", Infinity), "OPTION", /tolerance/],
    ["tolerance: text", option("tolerance", "0.5"), "OPTION", /tolerance/],
    ["axis: beyond the rank", option("axis", 2), "OPTION", /axis/],
    ["axis: fractional", option("axis", 0.5), "OPTION", /axis/],
    ["axis: text", option("axis", "x"), "OPTION", /axis/],
    ["seed: negative", option("seed", -1), "OPTION", /seed/],
    ["seed: fractional", option("seed", 1.5), "OPTION", /seed/],
    ["seed: text", option("seed", "1"), "OPTION", /seed/],
  ])("%s", async (_, call, code, message) => {
    await expectRejection(call, code, message);
    expect((await checkCausality((x) => x, input)).causal).toBe(true);
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a number in text", "1"],
    ["an object without output", { result: input }],
    ["an output that is no tensor", { output: "x" }],
    ["fewer positions", zeros([2, 1])],
    ["more positions", zeros([4, 1])],
    ["one axis", zeros([3])],
  ])("fn returns %s", async (_, result) => {
    await expectRejection(() => check(() => result, input), "FUNCTION", /\bfn\b/);
  });
});

test("the codes are the documented ones, each once", () => {
  expect(new Set(errorCodes).size).toBe(errorCodes.length);
  const wanted: ErrorCode[] = [
    "DTYPE",
    "RANK",
    "SHAPE",
    "MASK_SHAPE",
    "MASK_VALUE",
    "AMBIGUOUS_CAUSAL",
    "HEADS",
    "OPTION",
  ];
  wanted.push("STATE_DICT", "DISPOSED", "FOREIGN_OBJECT", "FUNCTION", "OUT_OF_MEMORY", "LOAD", "INTERNAL");
  expect(errorCodes).toEqual(expect.arrayContaining(wanted));
});
