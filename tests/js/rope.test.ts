// Rotary embedding: the pairing, the positions, the precision, and what must hold for any of them.

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { repeatKv, rope, ropeTable, scaledDotProductAttention, zeros, type RopeOptions } from "softlookup";
import { normalNumbers } from "./oracle.js";
import {
  byHand,
  expectClose,
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  leavesNothingAlive,
  numbers,
} from "./support.js";
import {
  flagsThatAreNone,
  optionCases,
  optionsThatAreNone,
  sizesThatAreNone,
  table,
  untyped,
  type Case,
} from "./tables.js";

leavesNothingAlive();
vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const layouts = ["half", "interleaved"] as const;
const unitScale = { abs: 2e-6, rel: 0 };
const normal = (seed: number, ...shape: number[]) =>
  flat(
    normalNumbers(
      shape.reduce((size, n) => size * n, 1),
      seed,
    ),
    ...shape,
  );
const largest = 2 ** 31 - 1;

/** One token turned by the definition. */
function turned(token: readonly number[], position: number, { layout, theta = 10000, dims }: RopeOptions) {
  const rotated = dims ?? token.length;
  const result = [...token];
  for (let i = 0; i < rotated / 2; i++) {
    const [one, two] = layout === "half" ? [i, i + rotated / 2] : [2 * i, 2 * i + 1];
    const angle = position * Math.exp((-2 * i * Math.log(theta)) / rotated);
    const [a, b] = [token[one] as number, token[two] as number];
    result[one] = a * Math.cos(angle) - b * Math.sin(angle);
    result[two] = a * Math.sin(angle) + b * Math.cos(angle);
  }
  return result;
}

describe("the two pairings", () => {
  const x = [[1, 2, 3, 4]];
  const squares = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value * value, 0);

  test("interleaved: features 2i and 2i + 1", () => {
    const y = rope(x, { layout: "interleaved", positions: 1 });
    expectTensor(y, [1, 4], [-1.14264, 1.922076, 2.959851, 4.0298]);
    expect(squares(y.data)).toBeCloseTo(30, 4);
  });

  test("half: features i and i + dims / 2", () => {
    const y = rope(x, { layout: "half", positions: 1 });
    expectTensor(y, [1, 4], [-1.984111, 1.959901, 2.462378, 4.0198]);
    expect(squares(y.data)).toBeCloseTo(30, 4);
  });

  test("the pairing is never guessed: the message names both", () => {
    for (const options of [undefined, {}, { layout: undefined }, { layout: "neox" }]) {
      expectError(() => untyped(rope)(x, options), "OPTION", /layout.*"half".*"interleaved"/);
    }
  });
});

describe("positions", () => {
  test.each(layouts)("position 0 returns x to the bit, %s", (layout) => {
    const x = flat([-0, -1, NaN, 1e-45, Infinity, 0.1], 1, 6);
    expectSameBits(rope(x, { layout }), x);
    expectSameBits(rope(x, { layout, positions: 0, inverse: true }), x);
  });

  test("by default 0, 1, …; a number begins a running range", () => {
    const x = normal(1, 2, 3, 4, 6);
    for (const layout of layouts) {
      expectSameBits(rope(x, { layout }), rope(x, { layout, positions: [0, 1, 2, 3] }));
      expectSameBits(rope(x, { layout, positions: 7 }), rope(x, { layout, positions: [7, 8, 9, 10] }));
    }
  });

  test("every kind of array, of [L] and of [B, L]", () => {
    const x = normal(2, 2, 1, 3, 4);
    const layout = "half";
    const rows = [
      [4, 5, 6],
      [0, 1, 70000],
    ];
    const want = rope(x, { layout, positions: rows });
    const list = rows.flat();
    for (const positions of [
      { data: Int32Array.from(list), shape: [2, 3] },
      { data: Uint32Array.from(list), shape: [2, 3] },
      { data: Float64Array.from(list), dims: [2, 3] },
      { data: BigInt64Array.from(list, BigInt), dims: [2, 3] },
      { data: list, shape: [2, 3] },
    ]) {
      expectSameBits(rope(x, { layout, positions }), want);
    }
    const one = flat(x.data.slice(0, 12), 1, 3, 4);
    const first = rope(one, { layout, positions: [4, 5, 6] });
    expectSameBits(flat(want.data.slice(0, 12), 1, 3, 4), first);
    expectSameBits(rope(one, { layout, positions: Int32Array.of(4, 5, 6) }), first);
    const backing = Int32Array.of(9, 9, 4, 5, 6);
    expectSameBits(rope(one, { layout, positions: backing.subarray(2) }), first);
  });

  test("positions that float32 cannot tell apart", () => {
    const x = flat([1, 0, 1, 0], 2, 2);
    const { data } = rope(x, { layout: "half", positions: [16777216, 16777217] });
    const want = [16777216, 16777217].flatMap((position) => [Math.cos(position), Math.sin(position)]);
    expectClose(data, want, byHand);
    expectSameBits(rope(x, { layout: "half", positions: 16777216 }), flat(data, 2, 2));
  });

  test("angles are formed in double precision", () => {
    const x = zeros([1, 64]);
    x.data[1] = 1;
    const { data } = rope(x, { layout: "half", positions: 99504 });
    expect(data[1]).toBeCloseTo(-0.064462, 6);
    const { cos, inverseFrequencies } = ropeTable({ positions: [99504], dims: 64 });
    expect(cos.data[1]).toBe(data[1]);
    expect(inverseFrequencies.data[1]).toBe(Math.fround(10000 ** (-2 / 64)));
  });

  test("a decoded token stands at its own position, and cached keys were turned once", () => {
    const keys = rope(flat([1, 0, 1, 0, 1, 0], 3, 2), { layout: "half" });
    const query = rope(flat([1, 0], 1, 2), { layout: "half", positions: 2 });
    const v = flat([1, 0, 0, 0, 1, 0, 0, 0, 1], 3, 3);
    const { output } = scaledDotProductAttention(query, keys, v);
    expectTensor(output, [1, 3], [0.17579, 0.34571, 0.4785]);
  });

  test("nothing to turn", () => {
    expectTensor(rope(zeros([2, 1, 0, 4]), { layout: "half" }), [2, 1, 0, 4], []);
    expectTensor(rope(zeros([0, 1, 2, 4]), { layout: "half" }), [0, 1, 2, 4], []);
    expect(ropeTable({ positions: [], dims: 4 }).cos.shape).toEqual([0, 2]);
  });
});

describe("for any sizes and positions", () => {
  const problems = fc.record({
    layout: fc.constantFrom(...layouts),
    B: fc.integer({ min: 1, max: 3 }),
    H: fc.integer({ min: 1, max: 3 }),
    L: fc.integer({ min: 1, max: 5 }),
    pairs: fc.integer({ min: 1, max: 8 }),
    rest: fc.integer({ min: 0, max: 3 }),
    theta: fc.constantFrom(100, 10000, 1e6),
    start: fc.integer({ min: 0, max: 100_000 }),
    seed: fc.integer({ min: 0, max: 2 ** 30 }),
  });

  test("it is the definition, and leaves what is beyond dims alone", () => {
    fc.assert(
      fc.property(problems, ({ layout, B, H, L, pairs, rest, theta, start, seed }) => {
        const width = 2 * pairs + rest;
        const x = normal(seed, B, H, L, width);
        const options = { layout, theta, dims: 2 * pairs };
        const y = rope(x, { ...options, positions: start });
        const want = numbers(x)
          .map((_, i) => i)
          .filter((i) => i % width === 0)
          .flatMap((begin, token) =>
            turned(numbers(x).slice(begin, begin + width), start + (token % L), options),
          );
        expectClose(y.data, want, unitScale);
        const beyond = (_: number, i: number) => i % width >= 2 * pairs;
        expect(y.data.filter(beyond)).toEqual(x.data.filter(beyond));
      }),
    );
  });

  test("it keeps the length of every token", () => {
    fc.assert(
      fc.property(problems, ({ layout, B, H, L, pairs, rest, theta, start, seed }) => {
        const width = 2 * pairs + rest;
        const x = normal(seed, B, H, L, width);
        const lengths = (values: readonly number[]) =>
          values
            .filter((_, i) => i % width === 0)
            .map((_, token) => Math.hypot(...values.slice(token * width, (token + 1) * width)));
        const y = rope(x, { layout, theta, positions: start, dims: 2 * pairs });
        expectClose(lengths(numbers(y)), lengths(numbers(x)), { abs: 0, rel: 1e-6 });
      }),
    );
  });

  test("the inverse undoes it", () => {
    fc.assert(
      fc.property(problems, ({ layout, B, H, L, pairs, theta, start, seed }) => {
        const x = normal(seed, B, H, L, 2 * pairs);
        const options = { layout, theta, positions: start };
        const there = rope(x, options);
        expectClose(rope(there, { ...options, inverse: true }).data, numbers(x), { abs: 1e-6, rel: 1e-6 });
      }),
    );
  });

  test("q·k depends on the distance only", () => {
    fc.assert(
      fc.property(problems, fc.integer({ min: 0, max: 500 }), ({ layout, pairs, start, seed }, distance) => {
        const [q, k] = [normal(seed, 1, 2 * pairs), normal(seed + 1, 1, 2 * pairs)];
        const dot = (i: number, j: number) => {
          const [a, b] = [rope(q, { layout, positions: i }), rope(k, { layout, positions: j })];
          return numbers(a).reduce((sum, value, e) => sum + value * (b.data[e] as number), 0);
        };
        expect(Math.abs(dot(start + distance, start) - dot(distance, 0))).toBeLessThan(2e-5);
      }),
    );
  });
});

describe("yarn", () => {
  const scaling = { type: "yarn", factor: 16, originalMaxPositions: 2048 } as const;

  test("fast pairs stay, slow ones are divided by the factor, with a ramp in between", () => {
    const dims = 96;
    const { inverseFrequencies } = ropeTable({ positions: [], dims, theta: 1e6, scaling });
    const want = Array.from({ length: dims / 2 }, (_, i) => {
      const ramp = Math.min(Math.max((i - 8) / 13, 0), 1); // pairs 8 and 21, see the golden case
      return 1e6 ** ((-2 * i) / dims) * (1 - ramp + ramp / 16);
    });
    expectClose(inverseFrequencies.data, want, { abs: 0, rel: 1e-6 });
  });

  test("attentionFactor multiplies cos and sin: by default 0.1 ln(factor) + 1", () => {
    const lengthOf = (attentionFactor?: number) => {
      const { cos, sin } = ropeTable({ positions: [5], dims: 4, scaling: { ...scaling, attentionFactor } });
      return Math.hypot(cos.data[0] as number, sin.data[0] as number);
    };
    expect(lengthOf()).toBeCloseTo(0.1 * Math.log(16) + 1, 6);
    expect(lengthOf(1)).toBeCloseTo(1, 6);
    expect(lengthOf(2)).toBeCloseTo(2, 6);
    const x = normal(3, 2, 4);
    const options = { layout: "half", positions: 0, scaling } as const;
    const y = rope(x, options);
    const first = (1 + 0.1 * Math.log(16)) * (x.data[0] as number); // position 0 as well
    expect(y.data[0]).toBeCloseTo(first, 5);
    expectClose(rope(y, { ...options, inverse: true }).data, numbers(x), { abs: 1e-6, rel: 0 });
  });

  const wrong = (change: object) => () =>
    untyped(rope)(zeros([2, 4]), { layout: "half", scaling: { ...scaling, ...change } });
  table(
    [
      ["another type", wrong({ type: "linear" }), "OPTION", /scaling\.type.*"yarn"/],
      ["no type", wrong({ type: undefined }), "OPTION", /scaling\.type/],
      ["an unknown name", wrong({ beta: 1 }), "OPTION", /"beta"/],
      ["no factor", wrong({ factor: undefined }), "OPTION", /scaling\.factor/],
      ["a factor below 1", wrong({ factor: 0.5 }), "OPTION", /scaling\.factor/],
      ["a factor of text", wrong({ factor: "16" }), "OPTION", /scaling\.factor/],
      ["no original context", wrong({ originalMaxPositions: undefined }), "OPTION", /originalMaxPositions/],
      ["an original context of 0", wrong({ originalMaxPositions: 0 }), "OPTION", /originalMaxPositions/],
      ["betas the wrong way round", wrong({ betaFast: 1, betaSlow: 32 }), "OPTION", /betaFast.*betaSlow/],
      ["betaSlow of 0", wrong({ betaSlow: 0 }), "OPTION", /betaSlow/],
      ["attentionFactor NaN", wrong({ attentionFactor: NaN }), "OPTION", /attentionFactor/],
      ["attentionFactor null", wrong({ attentionFactor: null }), "OPTION", /attentionFactor/],
    ],
    () => expect(ropeTable({ positions: [0], dims: 2 }).cos.data).toEqual(Float32Array.of(1)),
  );
});

describe("bad input", () => {
  const x = zeros([2, 1, 3, 4]);
  const turn = (...args: unknown[]) => untyped(rope)(...args);
  const at = (positions: unknown) => turn(x, { layout: "half", positions });
  const control = () =>
    expectTensor(
      rope([[1, 2, 3, 4]], { layout: "interleaved", positions: 1 }),
      [1, 4],
      [-1.14264, 1.922076, 2.959851, 4.0298],
    );

  const positionCases: Case[] = [
    ["null", () => at(null), "DTYPE", /positions/],
    ["text", () => at("0"), "DTYPE", /positions/],
    ["a bigint", () => at(3n), "DTYPE", /positions/],
    ["a Float32Array, which rounds", () => at(new Float32Array(3)), "DTYPE", /positions.*Float32Array/],
    ["bytes", () => at(new Uint8Array(3)), "DTYPE", /positions/],
    ["text inside", () => at([0, "1", 2]), "DTYPE", /positions.*1/],
    ["a hole", () => at([0, , 2]), "DTYPE", /positions/],
    ["negative", () => at(-1), "OPTION", /positions.*-1/],
    ["fractional", () => at(0.5), "OPTION", /positions/],
    ["NaN", () => at(NaN), "OPTION", /positions/],
    ["infinite", () => at(Infinity), "OPTION", /positions/],
    ["a range that ends too late", () => at(largest), "OPTION", /positions.*2147483648/],
    ["negative inside", () => at([0, -1, 2]), "OPTION", /positions.*-1/],
    ["fractional inside", () => at([0, 0.5, 2]), "OPTION", /positions/],
    ["NaN inside", () => at([0, NaN, 2]), "OPTION", /positions/],
    ["too large inside", () => at([0, 1, 2 ** 31]), "OPTION", /positions.*2147483648/],
    ["far too large inside", () => at(BigInt64Array.of(0n, 1n, 2n ** 62n)), "OPTION", /positions/],
    ["too few", () => at([0, 1]), "SHAPE", /positions \[2\].*\[3\].*\[2, 3\]/],
    ["too many", () => at([0, 1, 2, 3, 4, 5]), "SHAPE", /positions \[6\]/],
    ["[L, B]", () => at([[0, 1], [2, 3], [4, 5]]), "SHAPE", /positions \[3, 2\]/], // prettier-ignore
    ["[1, L] beside two batch rows", () => at([[0, 1, 2]]), "SHAPE", /positions \[1, 3\]/],
    ["ragged", () => at([[0, 1, 2], [0]]), "SHAPE", /positions/],
    ["no shape", () => at({ data: [0, 1, 2] }), "SHAPE", /positions/],
    ["a shape that they do not fill", () => at({ data: [0, 1], shape: [3] }), "SHAPE", /positions.*2.*\[3\]/],
  ];

  table(
    [
      ["x: missing", () => turn(), "DTYPE", /^x\b/],
      ["x: text", () => turn("x", { layout: "half" }), "DTYPE", /^x\b/],
      ["x: one axis", () => turn([1, 2], { layout: "half" }), "RANK", /^x \[2\].*2 to 4/],
      [
        "x: five axes",
        () => turn(zeros([1, 1, 1, 1, 2]), { layout: "half" }),
        "RANK",
        /^x \[1, 1, 1, 1, 2\]/,
      ],
      [
        "x: an odd last axis",
        () => turn(zeros([2, 3]), { layout: "half" }),
        "SHAPE",
        /x \[1, 1, 2, 3\]|x \[2, 3\]/,
      ],
      ["x: a last axis of 0", () => turn(zeros([2, 0]), { layout: "half" }), "SHAPE", /x .*0\]/],
      ...positionCases.map(([name, ...rest]): Case => [`positions: ${name}`, ...rest]),
      ...optionCases(
        (options) =>
          turn(x, typeof options === "object" && options ? { layout: "half", ...options } : options),
        {
          theta: {
            of: [
              ["0", 0],
              ["negative", -1],
              ["NaN", NaN],
              ["infinite", Infinity],
              ["text", "1e4"],
              ["null", null],
            ],
          },
          dims: { of: [["0", 0], ["odd", 3], ["too many", 6], ...sizesThatAreNone] },
          inverse: { of: flagsThatAreNone },
          scaling: {
            of: [
              ["null", null],
              ["text", "yarn"],
              ["empty", {}],
            ],
          },
          layout: {
            of: [
              ["null", null],
              ["a number", 1],
              ["other text", "neox"],
            ],
          },
        },
      ),
    ],
    control,
  );

  const tableOf = (options: unknown) => untyped(ropeTable)(options);
  table(
    [
      ["table: no options", () => tableOf(undefined), "OPTION", /positions/],
      ["table: no positions", () => tableOf({ dims: 4 }), "OPTION", /positions/],
      ["table: a number for positions", () => tableOf({ dims: 4, positions: 3 }), "OPTION", /positions/],
      ["table: positions of null", () => tableOf({ dims: 4, positions: null }), "DTYPE", /positions/],
      ["table: text for positions", () => tableOf({ dims: 4, positions: "0" }), "DTYPE", /positions/],
      [
        "table: a Float32Array, which rounds",
        () => tableOf({ dims: 4, positions: new Float32Array(1) }),
        "DTYPE",
        /positions.*Float32Array/,
      ],
      [
        "table: positions of no shape",
        () => tableOf({ dims: 4, positions: { data: [0] } }),
        "SHAPE",
        /positions/,
      ],
      [
        "table: a fraction of a position",
        () => tableOf({ dims: 4, positions: [0.5] }),
        "OPTION",
        /positions/,
      ],
      [
        "table: a position too large",
        () => tableOf({ dims: 4, positions: [2 ** 31] }),
        "OPTION",
        /positions/,
      ],
      ...sizesThatAreNone.map(([what, dims]): Case => [
        `table: dims ${what}`,
        () => tableOf({ positions: [0], dims }),
        "OPTION",
        /dims/,
      ]),
      ...(
        [
          ["0", 0],
          ["negative", -1],
          ["NaN", NaN],
          ["text", "1e4"],
          ["null", null],
        ] as [string, unknown][]
      ).map(([what, theta]): Case => [
        `table: theta ${what}`,
        () => tableOf({ positions: [0], dims: 2, theta }),
        "OPTION",
        /theta/,
      ]),
      [
        "table: scaling of null",
        () => tableOf({ positions: [0], dims: 2, scaling: null }),
        "OPTION",
        /scaling/,
      ],
      [
        "table: scaling of another type",
        () => tableOf({ positions: [0], dims: 2, scaling: { type: "ntk" } }),
        "OPTION",
        /scaling\.type/,
      ],
      ...optionsThatAreNone.map(([what, value]): Case => [
        `table: options that are ${what}`,
        () => tableOf(value),
        "OPTION",
        /options/,
      ]),
      ["table: a negative position", () => tableOf({ dims: 4, positions: [-1] }), "OPTION", /positions.*-1/],
      ["table: no dims", () => tableOf({ positions: [0] }), "OPTION", /dims/],
      ["table: odd dims", () => tableOf({ positions: [0], dims: 3 }), "OPTION", /dims = 3/],
      ["table: dims of 0", () => tableOf({ positions: [0], dims: 0 }), "OPTION", /dims = 0/],
      [
        "table: a layout has no meaning",
        () => tableOf({ positions: [0], dims: 2, layout: "half" }),
        "OPTION",
        /"layout"/,
      ],
      [
        "table: beyond memory",
        () => tableOf({ positions: new Int32Array(4), dims: 2 ** 30 }),
        "OUT_OF_MEMORY",
        /./,
      ],
    ],
    control,
  );
});

describe("repeatKv", () => {
  test("each head n times in a row, not the whole list", () => {
    expectTensor(repeatKv([[[[10]], [[20]]]], 2), [1, 4, 1, 1], [10, 10, 20, 20]);
    expectTensor(repeatKv([[[1, 2]], [[3, 4]]], 3), [6, 1, 2], [1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4]);
  });

  test("grouped queries equal the same with repeated heads, to the bit", () => {
    const [q, k, v] = [normal(4, 2, 6, 3, 4), normal(5, 2, 2, 5, 4), normal(6, 2, 2, 5, 3)];
    expectSameBits(
      scaledDotProductAttention(q, repeatKv(k, 3), repeatKv(v, 3)).output,
      scaledDotProductAttention(q, k, v).output,
    );
  });

  const repeat = (...args: unknown[]) => untyped(repeatKv)(...args);
  table(
    [
      ["x: missing", () => repeat(), "DTYPE", /^x\b/],
      ["x: two axes", () => repeat(zeros([2, 3]), 2), "RANK", /^x \[2, 3\]/],
      ["n: missing", () => repeat(zeros([1, 2, 3])), "OPTION", /^n\b/],
      ...sizesThatAreNone.map(([name, n]): Case => [
        `n: ${name}`,
        () => repeat(zeros([1, 2, 3]), n),
        "OPTION",
        /^n\b/,
      ]),
      ["n: 0", () => repeat(zeros([1, 2, 3]), 0), "HEADS", /n = 0/],
      ["n: beyond memory", () => repeat(zeros([1, 2, 3]), largest), "OUT_OF_MEMORY", /./],
    ],
    () => expectTensor(repeatKv([[[1]]], 2), [2, 1, 1], [1, 1]),
  );
});
