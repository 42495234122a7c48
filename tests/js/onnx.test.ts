// ONNX's operators against values by the operators' text, and what they refuse.

import { afterAll, describe, expect, test } from "vitest";
import { Attention, RMSNormalization, RotaryEmbedding, type OnnxAttentionAttributes } from "softlookup/onnx";
import onnxFile from "../golden/onnx_attention.json" with { type: "json" };
import { GoldenRun, type GoldenCase } from "./golden.js";
import { expectError, expectSameBits, expectTensor, flat, flatBool, leavesNothingAlive } from "./support.js";

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

  const refusals: [string, () => unknown, Parameters<typeof expectError>[1], RegExp][] = [
    ["a missing input", () => Attention({ Q: x, K: x } as never), "DTYPE", /^V:/],
    ["an unknown input", () => Attention({ ...qkv, mask: x } as never), "OPTION", /"mask"/],
    ["an unknown attribute", () => Attention(qkv, { causal: 1 } as never), "OPTION", /"causal"/],
    ["no inputs", () => Attention(undefined as never), "OPTION", /undefined/],
    [
      "3 axes without heads",
      () => Attention({ Q: flat([1], 1, 1, 1), K: flat([1], 1, 1, 1), V: flat([1], 1, 1, 1) }),
      "HEADS",
      /q_num_heads/,
    ],
    ["2 axes", () => Attention({ Q: [[1]], K: [[1]], V: [[1]] }), "RANK", /^Q \[1, 1\]/],
    ["half a past", () => Attention({ ...qkv, past_key: x }), "OPTION", /past_value/],
    [
      "a past of 3 axes",
      () => Attention({ ...qkv, past_key: flat([1], 1, 1, 1), past_value: x }),
      "RANK",
      /past_key/,
    ],
    [
      "a past beside lengths",
      () => Attention({ ...qkv, past_key: x, past_value: x, nonpad_kv_seqlen: [3] }),
      "OPTION",
      /nonpad_kv_seqlen/,
    ],
    [
      "lengths of another shape",
      () => Attention({ ...qkv, nonpad_kv_seqlen: [[3]] }),
      "SHAPE",
      /nonpad_kv_seqlen \[1, 1\]/,
    ],
    [
      "a length that is not whole",
      () => Attention({ ...qkv, nonpad_kv_seqlen: [1.5] }),
      "OPTION",
      /nonpad_kv_seqlen/,
    ],
    ["a length above S", () => Attention({ ...qkv, nonpad_kv_seqlen: [4] }), "OPTION", /nonpad_kv_seqlen: 4/],
    ["NaN in a mask", () => Attention({ ...qkv, attn_mask: flat([NaN, 0, 0], 3) }), "MASK_VALUE", /NaN/],
    [
      "a mask that does not broadcast",
      () => Attention({ ...qkv, attn_mask: flatBool([1, 1, 1, 1, 1, 1], 2, 3) }),
      "MASK_SHAPE",
      /\[2, 3\]/,
    ],
    ["a flag of 2", () => Attention(qkv, { is_causal: 2 } as never), "OPTION", /is_causal/],
    [
      "a mode of 4",
      () => Attention(qkv, { qk_matmul_output_mode: 4 } as never),
      "OPTION",
      /qk_matmul_output_mode/,
    ],
    [
      "an integer type for the softmax",
      () => Attention(qkv, { softmax_precision: 7 }),
      "OPTION",
      /softmax_precision/,
    ],
    ["a fraction of a window", () => Attention(qkv, { left_window_size: 0.5 }), "OPTION", /left_window_size/],
    ["a negative softcap", () => Attention(qkv, { softcap: -1 }), "OPTION", /softcap/],
    [
      "caches of two shapes",
      () =>
        RotaryEmbedding({
          input: flat([1, 2], 1, 1, 1, 2),
          cos_cache: [[1]],
          sin_cache: [[1], [2]],
          position_ids: [[0]],
        }),
      "SHAPE",
      /sin_cache \[2, 1\]/,
    ],
    [
      "a position without a row",
      () =>
        RotaryEmbedding({
          input: flat([1, 2], 1, 1, 1, 2),
          cos_cache: [[1]],
          sin_cache: [[0]],
          position_ids: [[1]],
        }),
      "OPTION",
      /position_ids: 1/,
    ],
    [
      "positions of another shape",
      () =>
        RotaryEmbedding({
          input: flat([1, 2], 1, 1, 1, 2),
          cos_cache: [[1]],
          sin_cache: [[0]],
          position_ids: [0],
        }),
      "SHAPE",
      /position_ids \[1\]/,
    ],
    [
      "an odd number of dims",
      () =>
        RotaryEmbedding(
          { input: flat([1, 2], 1, 1, 1, 2), cos_cache: [[1]], sin_cache: [[0]] },
          { rotary_embedding_dim: 1 },
        ),
      "OPTION",
      /rotary_embedding_dim = 1/,
    ],
    [
      "an axis that does not exist",
      () => RMSNormalization({ X: [[1]], scale: [1] }, { axis: 2 }),
      "OPTION",
      /axis = 2/,
    ],
    ["a scale of another size", () => RMSNormalization({ X: [[1]], scale: [1, 1] }), "SHAPE", /scale \[2\]/],
  ];
  test.each(refusals)("%s is refused", (_, call, code, message) => {
    expectError(call, code, message);
  });
});
