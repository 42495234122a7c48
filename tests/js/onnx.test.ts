// ONNX's operators against values by the operators' text, and what they refuse.

import { afterAll, describe, expect, test } from "vitest";
import { zeros, type ErrorCode } from "softlookup";
import { Attention, RMSNormalization, RotaryEmbedding, type OnnxAttentionAttributes } from "softlookup/onnx";
import onnxFile from "../golden/onnx_attention.json" with { type: "json" };
import { GoldenRun, type GoldenCase } from "./golden.js";
import { expectSameBits, expectTensor, flat, flatBool, leavesNothingAlive } from "./support.js";
import { maskCases, optionCases, sizesThatAreNone, table, untyped, type Case } from "./tables.js";

const cases = onnxFile.cases as unknown as readonly GoldenCase[];

function runAttention(golden: GoldenRun, { outputs }: GoldenCase): void {
  const optional = <Value>(name: string, get: (name: string) => Value) =>
    golden.has(name) ? get(name) : undefined;
  const inputs = {
    Q: golden.tensor("Q"),
    K: golden.tensor("K"),
    V: golden.tensor("V"),
    attn_mask: optional("attn_mask", (name) => golden.mask(name)),
    past_key: optional("past_key", (name) => golden.tensor(name)),
    past_value: optional("past_value", (name) => golden.tensor(name)),
    nonpad_kv_seqlen: optional("nonpad_kv_seqlen", (name) => golden.integers(name)),
  };
  const attributes = golden.param("attributes") as OnnxAttentionAttributes;
  const shown =
    "qk_matmul_output" in outputs ? { qk_matmul_output_mode: 0 as const, ...attributes } : attributes;
  const got = Attention(inputs, shown);
  expect(Object.keys(got).sort()).toEqual(Object.keys(outputs).sort());
  for (const [name, tensor] of Object.entries(got)) {
    golden.compare(name, tensor);
  }
  expectSameBits(Attention(inputs, { ...shown, qk_matmul_output_mode: undefined }).Y, got.Y);
}

function runRotaryEmbedding(golden: GoldenRun): void {
  const inputs = {
    input: golden.tensor("input"),
    cos_cache: golden.tensor("cos_cache"),
    sin_cache: golden.tensor("sin_cache"),
    position_ids: golden.has("position_ids") ? golden.integers("position_ids") : undefined,
  };
  golden.compare("output", RotaryEmbedding(inputs, golden.param("attributes") as object));
}

function runRmsNormalization(golden: GoldenRun): void {
  const inputs = { X: golden.tensor("X"), scale: golden.tensor("W") };
  golden.compare("Y", RMSNormalization(inputs, golden.param("attributes") as object));
}

const operators: Readonly<Record<string, (golden: GoldenRun, from: GoldenCase) => void>> = {
  Attention: runAttention,
  RotaryEmbedding: runRotaryEmbedding,
  RMSNormalization: runRmsNormalization,
};

describe("golden: onnx_attention", () => {
  leavesNothingAlive();
  let ran = 0;

  test("no case is missing", () => {
    expect(onnxFile.format).toBe(1);
    expect(cases.length).toBe(74);
  });

  test.each(cases.map((golden) => [golden.name, golden] as const))("%s", (_, golden) => {
    const run = new GoldenRun(golden);
    operators[run.param("op") as string]?.(run, golden);
    run.finish({ informative: ["params.opset"] });
    ran += 1;
  });

  afterAll(() => {
    console.log(`golden onnx_attention: ${ran} of ${cases.length} cases ran`);
  });
});

describe("by ONNX's rules", () => {
  leavesNothingAlive();
  const x = flat([1, 2, 3], 1, 1, 3, 1);
  const qkv = { Q: x, K: x, V: x };
  const zero = flat([0, 0, 0], 1, 1, 3, 1);
  const means = { Q: zero, K: zero, V: x };

  test("optional inputs may be null", () => {
    const all = { ...qkv, attn_mask: null, past_key: null, past_value: null, nonpad_kv_seqlen: null };
    expectSameBits(Attention(all).Y, Attention(qkv).Y);
  });

  test("a short mask hides what it does not reach, also with one column", () => {
    expectTensor(Attention({ ...means, attn_mask: [true, true] }).Y, [1, 1, 3, 1], [1.5, 1.5, 1.5]);
    expectTensor(Attention({ ...means, attn_mask: [true] }).Y, [1, 1, 3, 1], [1, 1, 1]);
    expectTensor(Attention({ ...means, attn_mask: flat([0, 0], 2) }).Y, [1, 1, 3, 1], [1.5, 1.5, 1.5]);
  });

  test("negative windows have no bound, and 0 is a bound", () => {
    const free = { left_window_size: -1, right_window_size: -7 };
    expectTensor(Attention(means, free).Y, [1, 1, 3, 1], [2, 2, 2]);
    expectTensor(Attention(means, { ...free, left_window_size: 0 }).Y, [1, 1, 3, 1], [2, 2.5, 3]);
    expectTensor(Attention(means, { ...free, right_window_size: 0 }).Y, [1, 1, 3, 1], [1, 1.5, 2]);
  });

  test("flags are 0 and 1, or false and true", () => {
    expectTensor(Attention(means, { is_causal: 1 }).Y, [1, 1, 3, 1], [1, 1.5, 2]);
    expectSameBits(Attention(means, { is_causal: true }).Y, Attention(means, { is_causal: 1 }).Y);
    expectSameBits(Attention(means, { is_causal: false }).Y, Attention(means, { is_causal: 0 }).Y);
  });

  test("a query before the first real key sees nothing and is 0", () => {
    const { Y } = Attention({ ...means, nonpad_kv_seqlen: [2] }, { is_causal: 1 });
    expectTensor(Y, [1, 1, 3, 1], [0, 1, 1.5]);
  });

  test("what lies behind the real keys cannot matter", () => {
    const lengths = { nonpad_kv_seqlen: [2] };
    const spoilt = flat([1, 2, NaN], 1, 1, 3, 1);
    const { Y } = Attention({ Q: x, K: spoilt, V: spoilt, ...lengths });
    expectSameBits(Y, Attention({ ...qkv, ...lengths }).Y);
  });

  test("a past and a present in two steps are as in one", () => {
    const part = (from: number, to: number) => ({
      data: x.data.slice(from, to),
      shape: [1, 1, to - from, 1],
    });
    const first = Attention({ Q: part(0, 1), K: part(0, 1), V: part(0, 1) }, { is_causal: 1 });
    const second = Attention(
      { Q: part(1, 3), K: part(1, 3), V: part(1, 3), past_key: part(0, 1), past_value: part(0, 1) },
      { is_causal: 1 },
    );
    const whole = Attention(qkv, { is_causal: 1 }).Y;
    expectSameBits({ data: Float32Array.of(...first.Y.data, ...second.Y.data), shape: whole.shape }, whole);
    expectSameBits(second.present_key as typeof x, x);
  });
});

describe("what the operators refuse", () => {
  leavesNothingAlive();
  const x = flat([1, 2, 3], 1, 1, 3, 1);
  const zero = flat([0, 0, 0], 1, 1, 3, 1);
  const qkv = { Q: x, K: x, V: x };
  const tensorsThatAreNone: [string, unknown][] = [
    ["missing", undefined],
    ["null", null],
    ["text", "x"],
    ["integers", { data: new Int32Array(3), shape: [1, 1, 3, 1] }],
  ];
  const numbersThatAreNone: [string, unknown][] = [
    ["text", "1"],
    ["null", null],
    ["NaN", NaN],
    ["infinite", Infinity],
  ];
  const integersThatAreNone: [string, unknown][] = [
    ...numbersThatAreNone,
    ["fractional", 0.5],
    ["a flag", true],
  ];
  const bitsThatAreNone = integersThatAreNone.slice(0, -1).concat([
    ["2", 2],
    ["-1", -1],
  ]);
  const positionsThatAreNone: [string, unknown, ErrorCode][] = [
    ["a bare number", 1, "OPTION"],
    ["text", "1", "DTYPE"],
    ["a Float32Array", new Float32Array(1), "DTYPE"],
    ["text inside", ["1"], "DTYPE"],
    ["ragged", [[1], [1, 2]], "SHAPE"],
    ["no shape", { data: [1] }, "SHAPE"],
  ];

  describe("Attention", () => {
    const attend = (inputs: unknown, attributes?: unknown) => untyped(Attention)(inputs, attributes);
    const withInputs = (inputs: object) => attend({ ...qkv, ...inputs });
    const withMask = (attn_mask: unknown) => withInputs({ attn_mask });
    const packed = zeros([1, 3, 4]);
    const past = { past_key: x, past_value: x };
    table(
      [
        ["no inputs", () => attend(undefined), "OPTION", /undefined/],
        ["inputs: null", () => attend(null), "OPTION", /null/],
        ["inputs: a list", () => attend([x, x, x]), "OPTION", /"0"/],
        ["an unknown input", () => withInputs({ mask: x }), "OPTION", /"mask"/],
        ...["Q", "K", "V"].flatMap((name): Case[] => [
          ...tensorsThatAreNone.map(([what, value]): Case => [
            `${name}: ${what}`,
            () => withInputs({ [name]: value }),
            "DTYPE",
            RegExp(`^${name}\\b`),
          ]),
          [`${name}: two axes`, () => withInputs({ [name]: [[1]] }), "RANK", RegExp(`\\b${name} \\[1, 1\\]`)],
          [
            `${name}: too few elements`,
            () => withInputs({ [name]: { data: [1], shape: [1, 1, 3, 1] } }),
            "SHAPE",
            RegExp(`^${name}\\b.*\\[1, 1, 3, 1\\]`),
          ],
          [
            `${name}: another batch`,
            () => withInputs({ [name]: zeros([2, 1, 3, 1]) }),
            "SHAPE",
            /\[2, 1, 3, 1\]/,
          ],
        ]),
        ["two axes", () => attend({ Q: [[1]], K: [[1]], V: [[1]] }), "RANK", /^Q \[1, 1\]/],
        [
          "five axes",
          () => attend({ Q: zeros([1, 1, 1, 1, 1]), K: zeros([1, 1, 1, 1, 1]), V: zeros([1, 1, 1, 1, 1]) }),
          "RANK",
          /^Q \[1, 1, 1, 1, 1\]/,
        ],
        [
          "K: another width",
          () => withInputs({ K: zeros([1, 1, 3, 2]) }),
          "SHAPE",
          /\[1, 1, 3, 1\].*\[1, 1, 3, 2\]/,
        ],
        [
          "V: another length",
          () => withInputs({ V: zeros([1, 1, 2, 1]) }),
          "SHAPE",
          /\[1, 1, 3, 1\].*\[1, 1, 2, 1\]/,
        ],
        [
          "heads that do not divide",
          () => withInputs({ Q: zeros([1, 3, 3, 1]), K: zeros([1, 2, 3, 1]), V: zeros([1, 2, 3, 1]) }),
          "HEADS",
          /\[1, 3, 3, 1\].*\[1, 2, 3, 1\]/,
        ],
        ["3 axes without heads", () => attend({ Q: packed, K: packed, V: packed }), "HEADS", /q_num_heads/],
        [
          "3 axes without kv heads",
          () => attend({ Q: packed, K: packed, V: packed }, { q_num_heads: 2 }),
          "HEADS",
          /kv_num_heads/,
        ],
        [
          "q_num_heads: does not divide",
          () => attend({ Q: packed, K: packed, V: packed }, { q_num_heads: 3, kv_num_heads: 2 }),
          "HEADS",
          /q_num_heads = 3.*Q \[1, 3, 4\]/,
        ],
        [
          "kv_num_heads: does not divide",
          () => attend({ Q: packed, K: packed, V: packed }, { q_num_heads: 2, kv_num_heads: 3 }),
          "HEADS",
          /kv_num_heads = 3.*K \[1, 3, 4\]/,
        ],
        [
          "q_num_heads: not those of 4 axes",
          () => attend(qkv, { q_num_heads: 2 }),
          "HEADS",
          /q_num_heads = 2/,
        ],

        ...maskCases("attn_mask", withMask, [2, 1, 1, 1]).filter(
          ([what]) => !what.startsWith("attn_mask: null"),
        ),
        ["attn_mask: NaN", () => withMask(flat([NaN, 0, 0], 3)), "MASK_VALUE", /attn_mask \[3\]/],
        ["attn_mask: +Infinity", () => withMask(flat([Infinity, 0, 0], 3)), "MASK_VALUE", /attn_mask \[3\]/],
        [
          "attn_mask: [2, 3]",
          () => withMask(flatBool([1, 1, 1, 1, 1, 1], 2, 3)),
          "MASK_SHAPE",
          /attn_mask \[2, 3\].*\[1, 1, 3, 3\]/,
        ],
        [
          "attn_mask: longer than the keys",
          () => withMask(flatBool([1, 1, 1, 1], 4)),
          "MASK_SHAPE",
          /attn_mask \[4\]/,
        ],
        ["attn_mask: no axis", () => withMask(flatBool([1])), "MASK_SHAPE", /attn_mask \[\]/],
        [
          "attn_mask: five axes",
          () => withMask(flatBool([1], 1, 1, 1, 1, 1)),
          "MASK_SHAPE",
          /attn_mask \[1, 1, 1, 1, 1\]/,
        ],

        ...["past_key", "past_value"].flatMap((name): Case[] => [
          [`${name}: text`, () => withInputs({ ...past, [name]: "x" }), "DTYPE", RegExp(`^${name}\\b`)],
          [`${name}: alone`, () => withInputs({ [name]: x }), "OPTION", /past_key and past_value/],
          [
            `${name}: 3 axes`,
            () => withInputs({ ...past, [name]: zeros([1, 3, 1]) }),
            "RANK",
            RegExp(`^${name} \\[1, 3, 1\\].*4`),
          ],
          [
            `${name}: other heads`,
            () => withInputs({ ...past, [name]: zeros([1, 2, 3, 1]) }),
            "SHAPE",
            RegExp(`${name} \\[1, 2, 3, 1\\].*\\[1, 1, 3, 1\\]`),
          ],
          [
            `${name}: another batch`,
            () => withInputs({ ...past, [name]: zeros([2, 1, 3, 1]) }),
            "SHAPE",
            RegExp(`${name} \\[2, 1, 3, 1\\]`),
          ],
          [
            `${name}: another width`,
            () => withInputs({ ...past, [name]: zeros([1, 1, 3, 2]) }),
            "SHAPE",
            RegExp(`${name} \\[1, 1, 3, 2\\]`),
          ],
        ]),
        [
          "pasts of different lengths",
          () => withInputs({ ...past, past_value: zeros([1, 1, 2, 1]) }),
          "SHAPE",
          /\[1, 1, 6, 1\].*\[1, 1, 5, 1\]/,
        ],

        ...positionsThatAreNone.map(([what, value, code]): Case => [
          `nonpad_kv_seqlen: ${what}`,
          () => withInputs({ nonpad_kv_seqlen: value }),
          code,
          /nonpad_kv_seqlen/,
        ]),
        [
          "nonpad_kv_seqlen: another shape",
          () => withInputs({ nonpad_kv_seqlen: [[3]] }),
          "SHAPE",
          /nonpad_kv_seqlen \[1, 1\].*\[1\]/,
        ],
        [
          "nonpad_kv_seqlen: another batch",
          () => withInputs({ nonpad_kv_seqlen: [3, 3] }),
          "SHAPE",
          /nonpad_kv_seqlen \[2\]/,
        ],
        [
          "nonpad_kv_seqlen: fractional",
          () => withInputs({ nonpad_kv_seqlen: [1.5] }),
          "OPTION",
          /nonpad_kv_seqlen/,
        ],
        [
          "nonpad_kv_seqlen: NaN",
          () => withInputs({ nonpad_kv_seqlen: [NaN] }),
          "OPTION",
          /nonpad_kv_seqlen/,
        ],
        [
          "nonpad_kv_seqlen: negative",
          () => withInputs({ nonpad_kv_seqlen: [-1] }),
          "OPTION",
          /nonpad_kv_seqlen: -1/,
        ],
        [
          "nonpad_kv_seqlen: above S",
          () => withInputs({ nonpad_kv_seqlen: [4] }),
          "OPTION",
          /nonpad_kv_seqlen: 4.*S = 3/,
        ],
        [
          "nonpad_kv_seqlen: beside a past",
          () => withInputs({ ...past, nonpad_kv_seqlen: [3] }),
          "OPTION",
          /nonpad_kv_seqlen/,
        ],

        ...optionCases((attributes) => attend(qkv, attributes), {
          is_causal: { of: bitsThatAreNone },
          scale: { of: numbersThatAreNone },
          softcap: { of: [...numbersThatAreNone, ["negative", -1]] },
          q_num_heads: { of: sizesThatAreNone },
          kv_num_heads: { of: sizesThatAreNone },
          left_window_size: { of: integersThatAreNone },
          right_window_size: { of: integersThatAreNone },
          qk_matmul_output_mode: { of: [...integersThatAreNone, ["4", 4], ["-1", -1]] },
          softmax_precision: { of: [...integersThatAreNone, ["an integer type", 7]] },
        }),
      ],
      () => expectTensor(Attention({ Q: zero, K: zero, V: x }).Y, [1, 1, 3, 1], [2, 2, 2]),
    );
  });

  describe("RotaryEmbedding", () => {
    // One token of two features, turned by a quarter.
    const good = { input: flat([1, 2], 1, 1, 1, 2), cos_cache: [[0]], sin_cache: [[1]], position_ids: [[0]] };
    const turn = (inputs: unknown, attributes?: unknown) => untyped(RotaryEmbedding)(inputs, attributes);
    const withInputs = (inputs: object) => turn({ ...good, ...inputs });
    table(
      [
        ["no inputs", () => turn(undefined), "OPTION", /undefined/],
        ["an unknown input", () => withInputs({ x: [[1]] }), "OPTION", /"x"/],
        ...["input", "cos_cache", "sin_cache"].flatMap((name) =>
          tensorsThatAreNone.map(([what, value]): Case => [
            `${name}: ${what}`,
            () => withInputs({ [name]: value }),
            "DTYPE",
            RegExp(`^${name}\\b`),
          ]),
        ),
        ["input: two axes", () => withInputs({ input: [[1, 2]] }), "RANK", /^input \[1, 2\]/],
        [
          "input: five axes",
          () => withInputs({ input: zeros([1, 1, 1, 1, 2]) }),
          "RANK",
          /^input \[1, 1, 1, 1, 2\]/,
        ],
        ["input: 3 axes without heads", () => withInputs({ input: zeros([1, 1, 2]) }), "HEADS", /num_heads/],
        ["input: an odd width", () => withInputs({ input: zeros([1, 1, 1, 3]) }), "SHAPE", /3/],
        ["input: no width", () => withInputs({ input: zeros([1, 1, 1, 0]) }), "SHAPE", /0/],
        [
          "num_heads: does not divide",
          () => turn({ ...good, input: zeros([1, 1, 4]) }, { num_heads: 3 }),
          "HEADS",
          /num_heads = 3.*\[1, 1, 4\]/,
        ],
        [
          "cos_cache: three axes beside positions",
          () => withInputs({ cos_cache: [[[0]]] }),
          "SHAPE",
          /cos_cache \[1, 1, 1\]/,
        ],
        [
          "cos_cache: two axes without positions",
          () => withInputs({ position_ids: undefined }),
          "SHAPE",
          /cos_cache \[1, 1\].*\[1, 1, 1\]/,
        ],
        [
          "cos_cache: another width",
          () => withInputs({ cos_cache: [[0, 0]] }),
          "SHAPE",
          /cos_cache \[1, 2\].*\[1, 1\]/,
        ],
        [
          "sin_cache: another shape",
          () => withInputs({ sin_cache: [[1], [2]] }),
          "SHAPE",
          /sin_cache \[2, 1\]/,
        ],
        ...positionsThatAreNone.map(([what, value, code]): Case => [
          `position_ids: ${what}`,
          () => withInputs({ position_ids: value }),
          code,
          /position_ids/,
        ]),
        [
          "position_ids: without a row",
          () => withInputs({ position_ids: [[1]] }),
          "OPTION",
          /position_ids: 1/,
        ],
        ["position_ids: negative", () => withInputs({ position_ids: [[-1]] }), "OPTION", /position_ids: -1/],
        ["position_ids: fractional", () => withInputs({ position_ids: [[0.5]] }), "OPTION", /position_ids/],
        [
          "position_ids: another shape",
          () => withInputs({ position_ids: [0] }),
          "SHAPE",
          /position_ids \[1\].*\[1, 1\]/,
        ],
        ...optionCases((attributes) => turn(good, attributes), {
          interleaved: { of: bitsThatAreNone },
          num_heads: { of: sizesThatAreNone },
          rotary_embedding_dim: { of: [...sizesThatAreNone, ["odd", 1], ["above the width", 4]] },
        }),
      ],
      () => expectTensor(RotaryEmbedding(good), [1, 1, 1, 2], [-2, 1]),
    );
  });

  describe("RMSNormalization", () => {
    const norm = (inputs: unknown, attributes?: unknown) => untyped(RMSNormalization)(inputs, attributes);
    const good = { X: [[3, 4]], scale: [1, 1] };
    const withInputs = (inputs: object) => norm({ ...good, ...inputs });
    table(
      [
        ["no inputs", () => norm(undefined), "OPTION", /undefined/],
        ["an unknown input", () => withInputs({ weight: [1] }), "OPTION", /"weight"/],
        ...["X", "scale"].flatMap((name) =>
          tensorsThatAreNone.map(([what, value]): Case => [
            `${name}: ${what}`,
            () => withInputs({ [name]: value }),
            "DTYPE",
            RegExp(`^${name}\\b`),
          ]),
        ),
        ["X: a number", () => withInputs({ X: 1 }), "OPTION", /axis = -1.*X \[\]/],
        ["X: nothing to normalise", () => withInputs({ X: zeros([2, 0]), scale: 1 }), "SHAPE", /X \[2, 0\]/],
        ["scale: another size", () => withInputs({ scale: [1, 1, 1] }), "SHAPE", /scale \[3\].*\[2\]/],
        ["scale: more axes", () => withInputs({ scale: [[1, 1]] }), "SHAPE", /scale \[1, 2\].*\[2\]/],
        ...optionCases((attributes) => norm(good, attributes), {
          axis: { of: [...integersThatAreNone, ["beyond the rank", 2], ["before the first", -3]] },
          epsilon: { of: [...numbersThatAreNone, ["negative", -1]], message: /\beps(ilon)?\b/ },
          stash_type: { of: [...integersThatAreNone, ["an integer type", 7]] },
        }),
      ],
      () => expectTensor(RMSNormalization(good, { epsilon: 0 }), [1, 2], [0.848528, 1.131371]),
    );
  });
});
