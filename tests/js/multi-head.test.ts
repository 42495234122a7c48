// MultiHeadAttention as an object: parameters, trace, lifetime.

import { describe, expect, test } from "vitest";
import { MultiHeadAttention, memoryUsage, tensor, zeros, type Tensor, type TensorLike } from "softlookup";
import courseFile from "../golden/course.json" with { type: "json" };
import mhaFile from "../golden/mha.json" with { type: "json" };
import type { GoldenFile } from "./golden.js";
import { normalNumbers } from "./oracle.js";
import {
  expectAgree,
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  identity,
  identityState,
  leavesNothingAlive,
  numbers,
  step,
  withMultiHead,
} from "./support.js";

leavesNothingAlive();

const toy = tensor([
  [1, 2],
  [3, -1],
]);
const toyOutput = [2.761594, 1.992582, 2.995055, -0.857722];
const toyConfig = { embedDim: 2, numHeads: 2, bias: false };

const normal = (seed: number, ...shape: number[]) =>
  flat(
    normalNumbers(
      shape.reduce((product, size) => product * size, 1),
      seed,
    ),
    ...shape,
  );

describe("parameters", () => {
  const D = 4;
  const [query, key, value] = [normal(1, D, D), normal(2, D, D), normal(3, D, D)];
  const common = {
    in_proj_bias: normal(4, 3 * D),
    "out_proj.weight": normal(5, D, D),
    "out_proj.bias": normal(6, D),
  };
  const packed = flat([...numbers(query), ...numbers(key), ...numbers(value)], 3 * D, D);
  const x = normal(7, 2, 3, D);
  const output = (state: Record<string, TensorLike>) =>
    withMultiHead({ embedDim: D, numHeads: 2 }, state, (attention) => attention.forward(x, x, x).output);

  test("torch's names, packed and apart, give the same bits", () => {
    const apart = { q_proj_weight: query, k_proj_weight: key, v_proj_weight: value };
    const [one, other] = [output({ in_proj_weight: packed, ...common }), output({ ...apart, ...common })];
    expectSameBits(one, other);
    expect(numbers(one).some((value) => Math.abs(value) > 0.1)).toBe(true);
  });

  test("every kind of tensor is accepted", () => {
    const nested = (rows: number, { data }: Tensor) =>
      Array.from({ length: rows }, (_, i) => Array.from(data.slice(i * D, (i + 1) * D)));
    const want = output({ in_proj_weight: packed, ...common });
    expectSameBits(
      output({
        in_proj_weight: nested(3 * D, packed),
        in_proj_bias: common.in_proj_bias.data,
        "out_proj.weight": { data: Float64Array.from(common["out_proj.weight"].data), dims: [D, D] },
        "out_proj.bias": numbers(common["out_proj.bias"]),
      }),
      want,
    );
  });

  test.each<[string, Record<string, TensorLike>, "STATE_DICT" | "SHAPE" | "DTYPE", RegExp]>([
    [
      "missing",
      { in_proj_weight: identityState(2)["in_proj_weight"] as Tensor },
      "STATE_DICT",
      /out_proj\.weight/,
    ],
    ["unexpected", { ...identityState(2), "out_proj.bias": zeros([2]) }, "STATE_DICT", /out_proj\.bias/],
    [
      "of a wrong shape",
      { ...identityState(2), "out_proj.weight": zeros([2, 3]) },
      "SHAPE",
      /out_proj\.weight.*\[2, 3\].*\[2, 2\]/,
    ],
    [
      "of a wrong kind",
      { ...identityState(2), "out_proj.weight": "x" as unknown as TensorLike },
      "DTYPE",
      /out_proj\.weight/,
    ],
  ])("one that is %s leaves the old ones", (_, state, code, message) => {
    withMultiHead(toyConfig, identityState(2), (attention) => {
      const before = attention.forward(toy, toy, toy).output;
      // Whatever can be loaded of it would show.
      const doubled = Object.fromEntries(
        Object.entries(state).map(([name, value]) => [
          name,
          name === "in_proj_weight" ? zeros([6, 2]) : value,
        ]),
      );
      expectError(() => attention.loadStateDict(doubled), code, message);
      expectSameBits(attention.forward(toy, toy, toy).output, before);
      expectTensor(before, [2, 2], toyOutput);
    });
  });

  test("loading again replaces all of them", () => {
    withMultiHead(
      toyConfig,
      { in_proj_weight: zeros([6, 2]), "out_proj.weight": zeros([2, 2]) },
      (attention) => {
        expectTensor(attention.forward(toy, toy, toy).output, [2, 2], [0, 0, 0, 0]);
        attention.loadStateDict(identityState(2));
        expectTensor(attention.forward(toy, toy, toy).output, [2, 2], toyOutput);
      },
    );
  });

  test("nothing works before they are there", () => {
    const attention = new MultiHeadAttention(toyConfig);
    expectError(() => attention.forward(toy, toy, toy), "STATE_DICT", /loadStateDict/);
    expectError(() => attention.trace(toy, toy, toy), "STATE_DICT", /loadStateDict/);
    expectError(() => attention.loadStateDict({}), "STATE_DICT", /missing/);
    expectError(() => attention.forward(toy, toy, toy), "STATE_DICT", /loadStateDict/);
    attention.dispose();
  });
});

describe("parameterCount", () => {
  const counts = (courseFile as unknown as GoldenFile).cases
    .filter(({ name }) => /^parameters_h\d+$/.test(name))
    .map(({ params, outputs }) => ({
      embedDim: params["d_model"] as number,
      numHeads: params["heads"] as number,
      total: outputs["total"]?.data[0],
      withBias: outputs["total_with_bias"]?.data[0],
    }));

  test("there are counts to compare with", () => {
    expect(counts.map(({ numHeads }) => numHeads)).toEqual([1, 8, 64]);
  });

  test.each(counts)(
    "($embedDim, $numHeads): $total, with biases $withBias",
    ({ total, withBias, ...config }) => {
      for (const [bias, want] of [
        [false, total],
        [true, withBias],
      ] as const) {
        const attention = new MultiHeadAttention({ ...config, bias });
        expect(attention.parameterCount).toBe(want);
        attention.dispose();
      }
    },
  );

  test("is the number of numbers in the state dict, for every configuration of the golden file", () => {
    for (const { name, params, inputs } of (mhaFile as unknown as GoldenFile).cases) {
      const attention = new MultiHeadAttention({
        embedDim: params["embed_dim"] as number,
        numHeads: params["num_heads"] as number,
        bias: params["bias"] as boolean,
        kdim: (params["kdim"] as number | null) ?? undefined,
        vdim: (params["vdim"] as number | null) ?? undefined,
        addBiasKv: params["add_bias_kv"] as boolean,
        addZeroAttn: params["add_zero_attn"] as boolean,
      });
      const state = Object.entries(inputs).filter(([input]) => /proj|^bias_/.test(input));
      const count = state.reduce((sum, [, { data }]) => sum + data.length, 0);
      expect(attention.parameterCount, name).toBe(count);
      attention.dispose();
    }
  });

  test("768 wide, 12 heads", () => {
    const attention = new MultiHeadAttention({ embedDim: 768, numHeads: 12, bias: false });
    expect(attention.parameterCount).toBe(4 * 768 * 768);
    attention.dispose();
  });
});

test("config shows what was chosen and what is the default", () => {
  const chosen = {
    embedDim: 6,
    numHeads: 3,
    bias: false,
    kdim: 4,
    vdim: 5,
    addBiasKv: true,
    addZeroAttn: true,
  };
  for (const [given, want] of [
    [chosen, chosen],
    [
      { embedDim: 6, numHeads: 3 },
      { embedDim: 6, numHeads: 3, bias: true, kdim: 6, vdim: 6, addBiasKv: false, addZeroAttn: false },
    ],
  ] as const) {
    const attention = new MultiHeadAttention(given);
    expect(attention.config).toEqual(want);
    attention.dispose();
  }
});

describe("trace", () => {
  const ids = [
    "query",
    "key",
    "value",
    "queryHeads",
    "keyHeads",
    "valueHeads",
    "scores",
    "scaled",
    "masked",
    "rowMax",
    "exp",
    "rowSum",
    "weights",
    "heads",
    "merged",
    "output",
  ];

  /** B = 2, L = 3, S = 5, D = 6, H = 2 */
  const shapes = (B: number[], added = 0) => {
    const S = 5 + added;
    return [
      [...B, 3, 6],
      [...B, S, 6],
      [...B, S, 6],
      [...B, 2, 3, 3],
      [...B, 2, S, 3],
      [...B, 2, S, 3],
      [...B, 2, 3, S],
      [...B, 2, 3, S],
      [...B, 2, 3, S],
      [...B, 2, 3],
      [...B, 2, 3, S],
      [...B, 2, 3],
      [...B, 2, 3, S],
      [...B, 2, 3, 3],
      [...B, 3, 6],
      [...B, 3, 6],
    ];
  };

  const state = {
    q_proj_weight: normal(1, 6, 6),
    k_proj_weight: normal(2, 6, 4),
    v_proj_weight: normal(3, 6, 7),
    in_proj_bias: normal(4, 18),
    "out_proj.weight": normal(5, 6, 6),
    "out_proj.bias": normal(6, 6),
  };
  const config = { embedDim: 6, numHeads: 2, kdim: 4, vdim: 7 };

  test.each([
    ["batched", [2]],
    ["without a batch", []],
  ])("ids and shapes, %s", (_, batch) => {
    withMultiHead(config, state, (attention) => {
      const [query, key, value] = [
        normal(7, ...batch, 3, 6),
        normal(8, ...batch, 5, 4),
        normal(9, ...batch, 5, 7),
      ];
      const options = { mask: [true, true, false, true, true], causal: "bottom-right" } as const;
      const trace = attention.trace(query, key, value, options);
      expect(trace.steps.map(({ id }) => id)).toEqual(ids);
      expect(trace.steps.map(({ shape }) => shape)).toEqual(shapes(batch));
      expect(trace.steps.map(({ tensor: { data } }) => data.length)).toEqual(
        shapes(batch).map((shape) => shape.reduce((product, size) => product * size, 1)),
      );
      expect(trace.steps.every(({ formula }) => formula.trim().length > 0)).toBe(true);

      const result = attention.forward(query, key, value, {
        ...options,
        needWeights: true,
        averageWeights: false,
      });
      expectAgree(step(trace, "output"), result.output);
      expectAgree(step(trace, "weights"), result.weights as Tensor);
    });
  });

  test("learned and zero keys stand after the last", () => {
    const added = { ...config, addBiasKv: true, addZeroAttn: true };
    withMultiHead(
      added,
      { ...state, bias_k: normal(10, 1, 1, 6), bias_v: normal(11, 1, 1, 6) },
      (attention) => {
        const trace = attention.trace(normal(7, 2, 3, 6), normal(8, 2, 5, 4), normal(9, 2, 5, 7));
        expect(trace.steps.map(({ shape }) => shape)).toEqual(shapes([2], 2));
        const key = step(trace, "key");
        expect(numbers(key).slice(5 * 6, 6 * 6)).toEqual(numbers(normal(10, 6)));
        expect(numbers(key).slice(6 * 6, 7 * 6)).toEqual(Array(6).fill(0));
      },
    );
  });

  test("heads are split, not copied: the toy, step by step", () => {
    withMultiHead(toyConfig, identityState(2), (attention) => {
      const trace = attention.trace(toy, toy, toy);
      expectTensor(step(trace, "query"), [2, 2], [1, 2, 3, -1]);
      expectTensor(step(trace, "queryHeads"), [2, 2, 1], [1, 3, 2, -1]);
      expectTensor(step(trace, "scores"), [2, 2, 2], [1, 3, 3, 9, 4, -2, -2, 1]);
      expectTensor(step(trace, "scaled"), [2, 2, 2], [1, 3, 3, 9, 4, -2, -2, 1]);
      expectTensor(step(trace, "rowMax"), [2, 2], [3, 9, 4, 1]);
      expectTensor(step(trace, "heads"), [2, 2, 1], [2.761594, 2.995055, 1.992582, -0.857722]);
      expectTensor(step(trace, "merged"), [2, 2], toyOutput);
      expectTensor(step(trace, "output"), [2, 2], toyOutput);
    });
  });
});

describe("lifetime", () => {
  test("memoryUsage counts objects and their bytes", () => {
    const before = memoryUsage();
    const first = new MultiHeadAttention(toyConfig);
    const second = new MultiHeadAttention({ embedDim: 64, numHeads: 4, bias: false });
    expect(memoryUsage().objects).toBe(before.objects + 2);
    const empty = memoryUsage().allocated;
    second.loadStateDict(identityState(64));
    expect(memoryUsage().allocated - empty).toBeGreaterThanOrEqual(4 * 64 * 64 * 4);
    first.dispose();
    expect(memoryUsage().objects).toBe(before.objects + 1);
    second.dispose();
    expect(memoryUsage()).toEqual({ ...before, total: memoryUsage().total });
  });

  test("calls, failed ones included, leave nothing behind", () => {
    withMultiHead(toyConfig, identityState(2), (attention) => {
      const before = memoryUsage();
      for (let i = 0; i < 100; i++) {
        attention.forward(toy, toy, toy, { needWeights: true, causal: true });
        attention.trace(toy, toy, toy);
        expectError(() => attention.forward(toy, zeros([2, 3]), toy), "SHAPE", /key/);
        expectError(() => attention.loadStateDict({}), "STATE_DICT", /missing/);
        attention.loadStateDict(identityState(2));
      }
      expect(memoryUsage()).toEqual(before);
    });
  });

  test("a constructor that throws leaves no object", () => {
    const before = memoryUsage();
    for (let i = 0; i < 100; i++) {
      expectError(() => new MultiHeadAttention({ embedDim: 3, numHeads: 2 }), "HEADS", /numHeads = 2/);
    }
    expect(memoryUsage()).toEqual(before);
  });

  test("dispose twice is harmless, everything else after it throws", () => {
    const before = memoryUsage().objects;
    const attention = new MultiHeadAttention(toyConfig);
    attention.loadStateDict(identityState(2));
    attention.dispose();
    attention.dispose();
    attention[Symbol.dispose]();
    expect(memoryUsage().objects).toBe(before);
    expectError(() => attention.forward(toy, toy, toy), "DISPOSED", /MultiHeadAttention/);
    expectError(() => attention.trace(toy, toy, toy), "DISPOSED", /MultiHeadAttention/);
    expectError(() => attention.loadStateDict(identityState(2)), "DISPOSED", /MultiHeadAttention/);
    // What was decided at construction can still be read.
    expect(attention.config.embedDim).toBe(2);
    expect(attention.parameterCount).toBe(16);
  });

  test("disposing one twice never frees another", () => {
    const first = new MultiHeadAttention(toyConfig);
    first.dispose();
    withMultiHead(toyConfig, identityState(2), (second) => {
      first.dispose();
      expectTensor(second.forward(toy, toy, toy).output, [2, 2], toyOutput);
    });
  });

  test("`using` frees at the end of the block, also when it throws", () => {
    expect(typeof Symbol.dispose).toBe("symbol");
    const before = memoryUsage().objects;
    {
      using attention = new MultiHeadAttention(toyConfig);
      attention.loadStateDict(identityState(2));
      expectTensor(attention.forward(toy, toy, toy).output, [2, 2], toyOutput);
      expect(memoryUsage().objects).toBe(before + 1);
    }
    expect(memoryUsage().objects).toBe(before);
    expectError(
      () => {
        using attention = new MultiHeadAttention(toyConfig);
        attention.loadStateDict({ "out_proj.weight": identity(2) });
      },
      "STATE_DICT",
      /missing/,
    );
    expect(memoryUsage().objects).toBe(before);
  });
});
