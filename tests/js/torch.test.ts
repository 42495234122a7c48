// softlookup/torch against PyTorch's numbers, in PyTorch's own names, layouts and polarity.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { masks, zeros } from "softlookup";
import { MultiheadAttention, scaledDotProductAttention, type Tensor } from "softlookup/torch";
import mhaFile from "../golden/mha.json" with { type: "json" };
import sdpaFile from "../golden/sdpa.json" with { type: "json" };
import { GoldenRun, type GoldenCase } from "./golden.js";
import {
  expectClose,
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  flatBool,
  identityState,
  leavesNothingAlive,
} from "./support.js";
import {
  flagsThatAreNone,
  maskCases,
  optionCases,
  sizesThatAreNone,
  table,
  untyped,
  type Case,
} from "./tables.js";

const sdpaCases = sdpaFile.cases as unknown as readonly GoldenCase[];
const mhaCases = mhaFile.cases as unknown as readonly GoldenCase[];
const isParameter = (name: string) => /^(in_proj|[qkv]_proj|out_proj|bias_[kv])/.test(name);

describe("scaledDotProductAttention", () => {
  leavesNothingAlive();

  test("no case is missing", () => {
    expect(sdpaCases.length).toBe(32);
  });

  test.each(sdpaCases.map((golden) => [golden.name, golden] as const))("golden: %s", (_, golden) => {
    const run = new GoldenRun(golden);
    const output = scaledDotProductAttention(run.tensor("q"), run.tensor("k"), run.tensor("v"), {
      attnMask: run.has("attn_mask") ? run.scoreMask("attn_mask") : null,
      isCausal: run.flag("is_causal"),
      scale: (run.param("scale") as number | undefined) ?? null,
      enableGqa: run.flag("enable_gqa"),
    });
    run.compare("output", output);
  });

  const one = flat([1], 1, 1, 1, 1);
  const two = flat([1, 1], 1, 2, 1, 1);

  test("causal is aligned to the top left also where L ≠ S", () => {
    const output = scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]], { isCausal: true });
    expectTensor(output, [1, 1], [1]);
  });

  test("dropout is refused, and none is not", () => {
    expectSameBits(scaledDotProductAttention(one, one, one, { dropoutP: 0 }), one);
    expectError(
      () => scaledDotProductAttention(one, one, one, { dropoutP: 0.1 }),
      "OPTION",
      /dropoutP = 0.1/,
    );
  });

  test("isCausal and a mask exclude each other", () => {
    const both = { isCausal: true, attnMask: [[true]] };
    expectError(() => scaledDotProductAttention(one, one, one, both), "OPTION", /isCausal.*attnMask/);
  });

  test("heads may differ with enableGqa only", () => {
    expectError(() => scaledDotProductAttention(two, one, one), "HEADS", /\[1, 2, 1, 1\].*enableGqa/);
    expectSameBits(scaledDotProductAttention(two, one, one, { enableGqa: true }), two);
  });

  test("unknown options and wrong types are refused", () => {
    expectError(
      () => scaledDotProductAttention(one, one, one, { causal: true } as never),
      "OPTION",
      /"causal"/,
    );
    expectError(
      () => scaledDotProductAttention(one, one, one, { isCausal: 1 } as never),
      "OPTION",
      /isCausal/,
    );
    expectError(() => scaledDotProductAttention(null as never, one, one), "DTYPE", /^query:/);
  });
});

describe("MultiheadAttention", () => {
  leavesNothingAlive();
  let ran = 0;

  test.each(mhaCases.map((golden) => [golden.name, golden] as const))("golden: %s", (_, golden) => {
    const run = new GoldenRun(golden);
    const attention = new MultiheadAttention(run.number("embed_dim"), run.number("num_heads"), {
      bias: run.flag("bias"),
      addBiasKv: run.flag("add_bias_kv"),
      addZeroAttn: run.flag("add_zero_attn"),
      kdim: (run.param("kdim") as number | undefined) ?? null,
      vdim: run.param("vdim") as number | undefined,
      batchFirst: run.flag("batch_first"),
    });
    try {
      const names = Object.keys(golden.inputs).filter(isParameter);
      attention.loadStateDict(Object.fromEntries(names.map((name) => [name, run.tensor(name)])));
      expect(run.has("key")).toBe(!run.flag("self_attention"));
      const query = run.tensor("query");
      const key = run.has("key") ? run.tensor("key") : query;
      const value = run.has("value") ? run.tensor("value") : key;
      const options = {
        keyPaddingMask: run.has("key_padding_mask") ? run.mask("key_padding_mask") : null,
        attnMask: run.has("attn_mask") ? run.mask("attn_mask") : undefined,
        averageAttnWeights: run.flag("average_attn_weights"),
      };
      const [output, weights] = attention.forward(query, key, value, options);
      run.compare("output", output);
      run.compare("weights", weights as Tensor);

      const [alone, none] = attention.forward(query, key, value, { ...options, needWeights: false });
      expectSameBits(alone, output);
      expect(none).toBeNull();
    } finally {
      attention.dispose();
    }
    run.finish({ informative: ["params.B", "params.L", "params.S"] });
    ran += 1;
  });

  afterAll(() => {
    console.log(`golden mha in torch's polarity: ${ran} of ${mhaCases.length} cases ran`);
  });

  function withIdentity<Result>(
    use: (attention: MultiheadAttention) => Result,
    options: ConstructorParameters<typeof MultiheadAttention>[2] = {},
  ): Result {
    const attention = new MultiheadAttention(2, 2, { bias: false, ...options });
    try {
      attention.loadStateDict(identityState(2));
      return use(attention);
    } finally {
      attention[Symbol.dispose]();
    }
  }

  // 3 tokens, 2 batch entries
  const sequenceFirst = flat([1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60], 3, 2, 2);
  const batchFirst = flat([1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60], 2, 3, 2);

  test("the sequence comes first unless batchFirst says otherwise", () => {
    const [output, weights] = withIdentity((attention) =>
      attention.forward(sequenceFirst, sequenceFirst, sequenceFirst),
    );
    const [turned, same] = withIdentity(
      (attention) => attention.forward(batchFirst, batchFirst, batchFirst),
      { batchFirst: true },
    );
    expect([output.shape, turned.shape]).toEqual([
      [3, 2, 2],
      [2, 3, 2],
    ]);
    const order = [0, 3, 1, 4, 2, 5].flatMap((token) => [2 * token, 2 * token + 1]);
    expectClose(
      output.data,
      order.map((i) => turned.data[i] as number),
      { abs: 0, rel: 0 },
    );
    expectSameBits(weights as Tensor, same as Tensor);
    expect(weights?.shape).toEqual([2, 3, 3]);
  });

  test("true leaves out, in both masks", () => {
    const causal = masks.causal(3);
    const notAllowed = { data: causal.data.map((may) => 1 - may), shape: causal.shape };
    const [, weights] = withIdentity((attention) =>
      attention.forward(sequenceFirst, sequenceFirst, sequenceFirst, {
        attnMask: notAllowed,
        isCausal: true,
        keyPaddingMask: [
          [false, true, false],
          [false, false, false],
        ],
      }),
    );
    const hidden = Array.from((weights as Tensor).data.slice(0, 9), (weight) => weight === 0);
    const [x, o] = [true, false];
    expect(hidden).toEqual([o, x, x, o, x, x, o, x, o]);
  });

  test("an empty batch and an empty sequence stay empty", () => {
    const shapes = (attention: MultiheadAttention, ...shape: number[]) => {
      const x = flat([], ...shape);
      return attention.forward(x, x, x).map((tensor) => tensor?.shape);
    };
    expect(withIdentity((attention) => shapes(attention, 3, 0, 2))).toEqual([
      [3, 0, 2],
      [0, 3, 3],
    ]);
    expect(withIdentity((attention) => shapes(attention, 0, 2, 2))).toEqual([
      [0, 2, 2],
      [2, 0, 0],
    ]);
  });

  test("isCausal is a hint about a mask that must be there", () => {
    withIdentity((attention) => {
      const call = () => attention.forward(sequenceFirst, sequenceFirst, sequenceFirst, { isCausal: true });
      expectError(call, "OPTION", /attnMask/);
    });
  });

  test("masks of another shape are refused", () => {
    withIdentity((attention) => {
      const forward = (options: object) => () =>
        attention.forward(sequenceFirst, sequenceFirst, sequenceFirst, options);
      const keep = (...shape: number[]) => flatBool(new Uint8Array(shape.reduce((a, b) => a * b)), ...shape);
      expectError(
        forward({ attnMask: keep(1, 3) }),
        "MASK_SHAPE",
        /attnMask \[1, 3\].*\[3, 3\].*\[4, 3, 3\]/,
      );
      expectError(forward({ attnMask: keep(2, 3, 3) }), "MASK_SHAPE", /\[2, 3, 3\]/);
      expectError(forward({ attnMask: keep(2, 2, 3, 3) }), "MASK_SHAPE", /\[2, 2, 3, 3\]/);
      expectError(forward({ keyPaddingMask: keep(3, 2) }), "MASK_SHAPE", /\[3, 2\]/);
      expectError(forward({ attnMask: new Float64Array(9) }), "DTYPE", /^attnMask:/);
      expectError(forward({ mask: keep(3, 3) }), "OPTION", /"mask"/);
      expectError(forward({ needWeights: 1 }), "OPTION", /needWeights/);
    });
  });

  test("the constructor refuses what torch refuses", () => {
    expectError(() => new MultiheadAttention(3, 2), "HEADS", /./);
    expectError(() => new MultiheadAttention(2, 2, { dropout: 2 }), "OPTION", /dropout/);
    expectError(
      () => new MultiheadAttention(2, 2, { batch_first: true } as never),
      "OPTION",
      /"batch_first"/,
    );
    expectError(() => new MultiheadAttention(2, 2, { batchFirst: 1 } as never), "OPTION", /batchFirst/);
  });

  test("after dispose() it throws, and twice is harmless", () => {
    const attention = new MultiheadAttention(2, 2, { dropout: 0.1 });
    attention.dispose();
    attention.dispose();
    expectError(() => attention.forward(sequenceFirst, sequenceFirst, sequenceFirst), "DISPOSED", /disposed/);
  });
});

describe("bad input", () => {
  leavesNothingAlive();
  const tensorsThatAreNone: [string, unknown][] = [
    ["missing", undefined],
    ["null", null],
    ["text", "x"],
    ["bytes", new Uint8Array(3)],
  ];
  const flags = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { of: flagsThatAreNone }]));

  describe("scaledDotProductAttention", () => {
    const [query, key, value] = [zeros([2, 4]), zeros([3, 4]), zeros([3, 5])];
    const attend = (...args: unknown[]) => untyped(scaledDotProductAttention)(...args);
    const withMask = (attnMask: unknown) => attend(query, key, value, { attnMask });
    table(
      [
        ...tensorsThatAreNone.flatMap(([what, none]): Case[] => [
          [`query: ${what}`, () => attend(none, key, value), "DTYPE", /^query\b/],
          [`key: ${what}`, () => attend(query, none, value), "DTYPE", /^key\b/],
          [`value: ${what}`, () => attend(query, key, none), "DTYPE", /^value\b/],
        ]),
        [
          "query: too few elements",
          () => attend({ data: [1], shape: [2, 4] }, key, value),
          "SHAPE",
          /^query\b.*\[2, 4\]/,
        ],
        ["one axis", () => attend([1], [1], [1]), "RANK", /query \[1\].*2 to 4/],
        [
          "five axes",
          () => attend(zeros([1, 1, 1, 2, 4]), zeros([1, 1, 1, 2, 4]), zeros([1, 1, 1, 2, 4])),
          "RANK",
          /query \[1, 1, 1, 2, 4\]/,
        ],
        [
          "numbers of axes that differ",
          () => attend(query, zeros([1, 3, 4]), value),
          "HEADS",
          /query \[2, 4\], key \[1, 3, 4\]/,
        ],
        [
          "head dims that differ",
          () => attend(query, zeros([3, 3]), value),
          "SHAPE",
          /query \[2, 4\], key \[3, 3\]/,
        ],
        [
          "lengths that differ",
          () => attend(query, key, zeros([4, 5])),
          "SHAPE",
          /key \[3, 4\], value \[4, 5\]/,
        ],
        [
          "batches that differ",
          () => attend(zeros([2, 1, 1, 4]), zeros([1, 1, 1, 4]), zeros([1, 1, 1, 4])),
          "SHAPE",
          /query \[2, 1, 1, 4\], key \[1, 1, 1, 4\]/,
        ],
        [
          "heads that differ",
          () => attend(zeros([2, 1, 4]), zeros([1, 1, 4]), zeros([1, 1, 4])),
          "HEADS",
          /query \[2, 1, 4\].*enableGqa/,
        ],
        [
          "heads that do not divide",
          () => attend(zeros([3, 1, 4]), zeros([2, 1, 4]), zeros([2, 1, 4]), { enableGqa: true }),
          "HEADS",
          /query \[3, 1, 4\], key \[2, 1, 4\]/,
        ],
        ...maskCases("attnMask", withMask, [2]).filter(([what]) => what !== "attnMask: null"),
        ["attnMask: NaN", () => withMask(flat([0, NaN, 0], 3)), "MASK_VALUE", /attnMask \[3\]/],
        [
          "attnMask: five axes",
          () => withMask(flatBool([1], 1, 1, 1, 1, 1)),
          "MASK_SHAPE",
          /attnMask \[1, 1, 1, 1, 1\]/,
        ],
        [
          "attnMask: beside isCausal",
          () => attend(query, key, value, { attnMask: [true], isCausal: true }),
          "OPTION",
          /isCausal.*attnMask/,
        ],
        ...optionCases((options) => attend(query, key, value, options), {
          ...flags(["isCausal", "enableGqa"]),
          dropoutP: {
            of: [
              ["0.5", 0.5],
              ["text", "0"],
              ["null", null],
              ["NaN", NaN],
            ],
          },
          scale: {
            of: [
              ["text", "1"],
              ["NaN", NaN],
              ["infinite", Infinity],
            ],
          },
        }),
      ],
      () => expectTensor(scaledDotProductAttention(query, key, value), [2, 5], Array<number>(10).fill(0)),
    );
  });

  describe("MultiheadAttention", () => {
    let attention: MultiheadAttention;
    let empty: MultiheadAttention;
    let disposed: MultiheadAttention;
    beforeAll(() => {
      attention = new MultiheadAttention(2, 2, { bias: false });
      attention.loadStateDict(identityState(2));
      empty = new MultiheadAttention(2, 2);
      disposed = new MultiheadAttention(2, 2);
      disposed.dispose();
    });
    afterAll(() => {
      attention.dispose();
      empty.dispose();
    });
    const one = flat([1, 2], 1, 2);
    const control = () => expectTensor(attention.forward(one, one, one)[0], [1, 2], [1, 2]);

    const create = (embedDim: unknown, numHeads: unknown, options?: unknown) => {
      new (MultiheadAttention as new (...args: unknown[]) => MultiheadAttention)(
        embedDim,
        numHeads,
        options,
      ).dispose();
    };
    table(
      [
        ["new: nothing", () => create(undefined, undefined), "OPTION", /embedDim/],
        ...sizesThatAreNone.flatMap(([what, size]): Case[] => [
          [`new: embedDim ${what}`, () => create(size, 1), "OPTION", /embedDim/],
          [`new: numHeads ${what}`, () => create(2, size), "OPTION", /numHeads/],
        ]),
        ["new: embedDim 0", () => create(0, 1), "OPTION", /embedDim/],
        ["new: numHeads 0", () => create(2, 0), "HEADS", /numHeads = 0/],
        ["new: numHeads that does not divide", () => create(3, 2), "HEADS", /numHeads = 2.*embedDim = 3/],
        ...optionCases((options) => create(2, 2, options), {
          ...flags(["bias", "addBiasKv", "addZeroAttn", "batchFirst"]),
          kdim: { of: sizesThatAreNone.filter(([what]) => what !== "null") },
          vdim: { of: sizesThatAreNone.filter(([what]) => what !== "null") },
          dropout: {
            of: [
              ["negative", -0.1],
              ["above 1", 1.1],
              ["NaN", NaN],
              ["text", "0.5"],
              ["null", null],
            ],
          },
        }).map(([what, ...rest]): Case => [`new: ${what}`, ...rest]),
        ["loadStateDict: missing", () => untyped(attention).loadStateDict(), "STATE_DICT", /state/],
        ["loadStateDict: empty", () => attention.loadStateDict({}), "STATE_DICT", /_proj_weight/],
        [
          "loadStateDict: a wrong shape",
          () => attention.loadStateDict({ ...identityState(2), "out_proj.weight": zeros([2, 3]) }),
          "SHAPE",
          /out_proj\.weight.*\[2, 3\].*\[2, 2\]/,
        ],
        ["forward before loadStateDict", () => empty.forward(one, one, one), "STATE_DICT", /loadStateDict/],
        ["forward after dispose", () => disposed.forward(one, one, one), "DISPOSED", /MultiHeadAttention/],
        [
          "loadStateDict after dispose",
          () => disposed.loadStateDict(identityState(2)),
          "DISPOSED",
          /MultiHeadAttention/,
        ],
      ],
      control,
    );

    const [query, key, value] = [zeros([2, 2]), zeros([3, 2]), zeros([3, 2])];
    const forward = (...args: unknown[]) => untyped(attention).forward(...args);
    const withOptions = (options: unknown) => forward(query, key, value, options);
    table(
      [
        ...tensorsThatAreNone.flatMap(([what, none]): Case[] => [
          [`query: ${what}`, () => forward(none, key, value), "DTYPE", /^query\b/],
          [`key: ${what}`, () => forward(query, none, value), "DTYPE", /^key\b/],
          [`value: ${what}`, () => forward(query, key, none), "DTYPE", /^value\b/],
        ]),
        ["one axis", () => forward([1, 2], [1, 2], [1, 2]), "RANK", /query \[2\]/],
        [
          "four axes",
          () => forward(zeros([1, 1, 2, 2]), zeros([1, 1, 2, 2]), zeros([1, 1, 2, 2])),
          "RANK",
          /query \[1, 1, 2, 2\]/,
        ],
        ["query: a wrong width", () => forward(zeros([2, 3]), key, value), "SHAPE", /query \[2, 3\]/],
        ["key: a wrong width", () => forward(query, zeros([3, 3]), value), "SHAPE", /key \[3, 3\]/],
        ["value: a wrong width", () => forward(query, key, zeros([3, 1])), "SHAPE", /value \[3, 1\]/],
        [
          "value: another length",
          () => forward(query, key, zeros([4, 2])),
          "SHAPE",
          /key \[3, 2\], value \[4, 2\]/,
        ],
        [
          "key: another batch, the sequence first",
          () => forward(zeros([2, 2, 2]), zeros([3, 1, 2]), zeros([3, 1, 2])),
          "SHAPE",
          /key/,
        ],
        ...optionCases(withOptions, flags(["needWeights", "averageAttnWeights", "isCausal"])),
        ["isCausal: without attnMask", () => withOptions({ isCausal: true }), "OPTION", /isCausal.*attnMask/],
        ...["attnMask", "keyPaddingMask"].flatMap((name) =>
          maskCases(name, (mask) => withOptions({ [name]: mask }), [2]).filter(
            ([what]) => !/: (null|too few elements)$/.test(what),
          ),
        ),
        ...Object.entries({ attnMask: [2, 3], keyPaddingMask: [3] }).map(([name, shape]): Case => [
          `${name}: too few elements`,
          () => withOptions({ [name]: { data: new Uint8Array(2), shape } }),
          "SHAPE",
          RegExp(`^${name}\\b`),
        ]),
        [
          "attnMask: NaN",
          () => withOptions({ attnMask: flat([0, NaN, 0, 0, 0, 0], 2, 3) }),
          "MASK_VALUE",
          /attnMask/,
        ],
        [
          "keyPaddingMask: NaN",
          () => withOptions({ keyPaddingMask: flat([0, NaN, 0], 3) }),
          "MASK_VALUE",
          /keyPaddingMask/,
        ],
        [
          "keyPaddingMask: +Infinity",
          () => withOptions({ keyPaddingMask: flat([Infinity, 0, 0], 3) }),
          "MASK_VALUE",
          /keyPaddingMask/,
        ],
      ],
      control,
    );
  });
});
