// Every argument of the cache, of grouped-query attention and of attention over a cache, wrong in every way.

import { afterAll, describe, expect, test } from "vitest";
import { GroupedQueryAttention, KVCache, masks, scaledDotProductAttention, zeros } from "softlookup";
import { load } from "softlookup/load";
import {
  expectError,
  expectSameBits,
  expectTensor,
  flat,
  flatBool,
  identity,
  leavesNothingAlive,
  numbers,
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

const cacheSize = { batch: 1, numKvHeads: 1, headDim: 1, capacity: 4 };
const tokens = (...data: number[]) => flat(data, 1, 1, data.length, 1);
const zero = tokens(0);

/** Sizes with their names; what is to be an array of them is none. */
const listsThatAreNone: [string, unknown][] = [
  ["a number", 1],
  ["text", "1"],
  ["null", null],
  ["an object", {}],
];
const sidesThatAreNone: [string, unknown][] = [
  ["other text", "middle"],
  ["null", null],
  ["true", true],
];
const cachesThatAreNone: [string, unknown][] = [
  ["null", null],
  ["a number", 1],
  ["an object", { lengths: [0] }],
  ["an heir without a handle", Object.create(KVCache.prototype)],
];
const tensorsThatAreNone: [string, unknown][] = [
  ["missing", undefined],
  ["null", null],
  ["text", "x"],
  ["bytes", new Uint8Array(1)],
];

/** Nothing may have changed: the mean of 1, 3 and 8 is 4. */
function holdsOneAndThree(cache: KVCache): void {
  expect([cache.lengths, cache.capacity, cache.length]).toEqual([[2], 4, 2]);
  using copy = new KVCache(cacheSize);
  copy.append(tokens(0, 0), tokens(1, 3));
  const ask = (held: KVCache) => scaledDotProductAttention(zero, zero, tokens(8), { cache: held }).output;
  expectTensor(ask(copy), [1, 1, 1, 1], [4]);
}

/** For the tests of a group: a cache of 1 and 3, which still works when they are through, and one disposed of. */
function caches(): { cache: KVCache; disposed: KVCache } {
  const cache = new KVCache(cacheSize);
  cache.append(tokens(0, 0), tokens(1, 3));
  const disposed = new KVCache(cacheSize);
  disposed.dispose();
  afterAll(() => {
    expectTensor(scaledDotProductAttention(zero, zero, tokens(8), { cache }).output, [1, 1, 1, 1], [4]);
    cache.dispose();
  });
  return { cache, disposed };
}

describe("KVCache", () => {
  const { cache, disposed } = caches();
  const control = () => {
    holdsOneAndThree(cache);
  };

  describe("new", () => {
    const create = (config: unknown) => {
      new (KVCache as new (config: unknown) => KVCache)(config).dispose();
    };
    const fields = Object.keys(cacheSize);
    table(
      [
        ["config: missing", () => create(undefined), "OPTION", /batch/],
        ...optionsThatAreNone.map(([what, value]): Case => [
          `config: ${what}`,
          () => create(value),
          "OPTION",
          /options/,
        ]),
        ["an unknown name", () => create({ ...cacheSize, heads: 1 }), "OPTION", /"heads"/],
        ...fields.flatMap((field) =>
          [["missing", undefined] as [string, unknown], ...sizesThatAreNone].map(([what, value]): Case => [
            `${field}: ${what}`,
            () => create({ ...cacheSize, [field]: value }),
            "OPTION",
            RegExp(`\\b${field}\\b`),
          ]),
        ),
        ...fields
          .filter((field) => field !== "capacity")
          .map((field): Case => [
            `${field}: 0`,
            () => create({ ...cacheSize, [field]: 0 }),
            "OPTION",
            RegExp(`\\b${field}\\b`),
          ]),
        [
          "beyond memory",
          () => create({ ...cacheSize, batch: 2 ** 20, capacity: 2 ** 20 }),
          "OUT_OF_MEMORY",
          /cache \[1048576, 1, 1048576, 1\]/,
        ],
      ],
      control,
    );
  });

  describe("append", () => {
    const append = (...args: unknown[]) => untyped(cache).append(...args);
    table(
      [
        ...tensorsThatAreNone.map(([what, k]): Case => [
          `k: ${what}`,
          () => append(k, zero),
          "DTYPE",
          /^k\b/,
        ]),
        ...tensorsThatAreNone.map(([what, v]): Case => [
          `v: ${what}`,
          () => append(zero, v),
          "DTYPE",
          /^v\b/,
        ]),
        ["k: three axes", () => append(zeros([1, 1, 1]), zero), "RANK", /^k \[1, 1, 1\].*4/],
        ["v: two axes", () => append(zero, [[1]]), "RANK", /^v \[1, 1\].*4/],
        [
          "k: another batch",
          () => append(zeros([2, 1, 1, 1]), zero),
          "SHAPE",
          /k \[2, 1, 1, 1\].*\[1, 1, 1, 1\]/,
        ],
        ["k: other heads", () => append(zeros([1, 2, 1, 1]), zero), "SHAPE", /k \[1, 2, 1, 1\]/],
        ["v: another width", () => append(zero, zeros([1, 1, 1, 2])), "SHAPE", /v \[1, 1, 1, 2\]/],
        [
          "v: other tokens",
          () => append(zero, tokens(1, 2)),
          "SHAPE",
          /k \[1, 1, 1, 1\] and v \[1, 1, 2, 1\]/,
        ],
        [
          "k: too few elements",
          () => append({ data: [1], shape: [1, 1, 2, 1] }, zero),
          "SHAPE",
          /^k\b.*\[1, 1, 2, 1\]/,
        ],
        [
          "too many tokens",
          () => append(zeros([1, 1, 3, 1]), zeros([1, 1, 3, 1])),
          "CACHE_FULL",
          /holds 2 of 4 .* 3/,
        ],
        ...optionCases((options) => append(zero, zero, options), {
          lengths: { of: [...listsThatAreNone, ["above T", [2]], ...sizesThatAreNone.map(inList)] },
          side: { of: sidesThatAreNone },
        }),
        [
          "lengths: of another batch",
          () => append(zero, zero, { lengths: [1, 1] }),
          "SHAPE",
          /lengths \[2\].*B = 1/,
        ],
      ],
      control,
    );
  });

  describe("dropOldest and grow", () => {
    const { dropOldest, grow } = KVCache.prototype as unknown as Record<string, (n: unknown) => unknown>;
    table(
      [
        ...[["missing", undefined] as [string, unknown], ...sizesThatAreNone].flatMap(
          ([what, value]): Case[] => [
            [`count: ${what}`, () => dropOldest?.call(cache, value), "OPTION", /\bcount\b/],
            [`capacity: ${what}`, () => grow?.call(cache, value), "OPTION", /\bcapacity\b/],
          ],
        ),
        ["capacity: below", () => cache.grow(3), "OPTION", /capacity = 3 .*4/],
        ["capacity: beyond memory", () => cache.grow(2 ** 31 - 1), "OUT_OF_MEMORY", /./],
      ],
      control,
    );
  });

  describe("the wrong object", () => {
    const { prototype } = KVCache;
    const getter = (name: string) =>
      Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: unknown) => unknown;
    const calls: [string, (self: unknown) => unknown][] = [
      ...["lengths", "length", "capacity"].map((name): [string, (self: unknown) => unknown] => [
        name,
        (self) => Reflect.get(prototype, name, self),
      ]),
      ["append", (self) => prototype.append.call(untyped(self), zero, zero)],
      ["dropOldest", (self) => prototype.dropOldest.call(untyped(self), 1)],
      ["grow", (self) => prototype.grow.call(untyped(self), 8)],
      ["reset", (self) => prototype.reset.call(untyped(self))],
    ];
    expect(getter("length")).toBeTypeOf("function");
    table(
      [
        ...calls.map(([name, call]): Case => [
          `${name} after dispose`,
          () => call(disposed),
          "DISPOSED",
          /KVCache/,
        ]),
        ...(
          [
            ["an object", {}],
            ["a layer", Object.create(GroupedQueryAttention.prototype)],
          ] as [string, unknown][]
        ).flatMap(([what, self]) =>
          calls
            // `lengths` of an object without a prototype's getter is asked first
            .map(([name, call]): Case => [
              `${name} on ${what}`,
              () => call(self),
              "FOREIGN_OBJECT",
              /KVCache|softlookup/,
            ]),
        ),
        ["dispose on an object", () => prototype.dispose.call(untyped({})), "FOREIGN_OBJECT", /softlookup/],
      ],
      control,
    );
  });
});

function inList([what, value]: [string, unknown]): [string, unknown] {
  return [`${what} in it`, [value]];
}

describe("scaledDotProductAttention: where queries look", () => {
  const [q, k, v] = [zeros([2, 2, 4]), zeros([2, 3, 4]), zeros([2, 3, 5])];
  const control = () =>
    expectTensor(scaledDotProductAttention(q, k, v).output, [2, 2, 5], Array<number>(20).fill(0));

  describe.each([
    ["the call", (...args: unknown[]) => untyped(scaledDotProductAttention)(...args)],
    ["trace", (...args: unknown[]) => untyped(scaledDotProductAttention.trace)(...args)],
  ])("%s", (path, attend) => {
    const withOptions = (options: object) => attend(q, k, v, options);
    const perHead = ["sinks", "alibiSlopes"].flatMap((name): Case[] => [
      [`${name}: null`, () => withOptions({ [name]: null }), "DTYPE", RegExp(`^${name}\\b`)],
      [`${name}: text`, () => withOptions({ [name]: "1" }), "DTYPE", RegExp(`^${name}\\b`)],
      [`${name}: a number`, () => withOptions({ [name]: 1 }), "RANK", RegExp(`^${name} \\[\\]`)],
      [`${name}: [1, H]`, () => withOptions({ [name]: [[1, 2]] }), "RANK", RegExp(`^${name} \\[1, 2\\]`)],
      [
        `${name}: not H`,
        () => withOptions({ [name]: [1, 2, 3], align: "top-left" }),
        "SHAPE",
        RegExp(`^${name} \\[3\\].*H = 2`),
      ],
      [
        `${name}: NaN`,
        () => withOptions({ [name]: [1, NaN], align: "top-left" }),
        "OPTION",
        RegExp(`^${name}\\b`),
      ],
      [
        `${name}: infinite`,
        () => withOptions({ [name]: [Infinity, 1], align: "top-left" }),
        "OPTION",
        RegExp(`^${name}\\b`),
      ],
    ]);
    table(
      [
        ...perHead,
        ...optionCases((options) => attend(q, k, v, options), {
          window: {
            of: [
              ["0", 0],
              ["text", "3"],
              ["null", null],
              ["true", true],
              ["a misspelt side", { lefft: 2 }],
              ["a list", [1, 2]],
              ...sizesThatAreNone,
              ...sizesThatAreNone.map(([what, left]): [string, unknown] => [`left: ${what}`, { left }]),
              ...sizesThatAreNone.map(([what, right]): [string, unknown] => [`right: ${what}`, { right }]),
            ],
          },
          softcap: {
            of: [
              ["0", 0],
              ["negative", -1],
              ["NaN", NaN],
              ["infinite", Infinity],
              ["text", "1"],
              ["null", null],
            ],
          },
          align: { of: [...causalsThatAreNone, ["true", true]] },
          keyLengths: { of: [...listsThatAreNone, ["above S", [4]], ...sizesThatAreNone.map(inList)] },
        }),
        ["keyLengths: not B", () => withOptions({ keyLengths: [1, 2] }), "SHAPE", /keyLengths \[2\].*B = 1/],
        ["window: ambiguous", () => withOptions({ window: 2 }), "AMBIGUOUS_CAUSAL", /L = 2.*S = 3/],
        [
          "alibiSlopes: ambiguous",
          () => withOptions({ alibiSlopes: [1, 2] }),
          "AMBIGUOUS_CAUSAL",
          /L = 2.*S = 3/,
        ],
        ...(path === "trace"
          ? ["out", "cache", "lengths", "side"].map((name): Case => [
              `${name}: unknown to trace`,
              () => withOptions({ [name]: undefined }),
              "OPTION",
              RegExp(`"${name}"`),
            ])
          : ([
              // They say which tokens of a chunk are real, and there is no chunk.
              ...["lengths", "side"].map((name): Case => [
                `${name}: without a cache`,
                () => withOptions({ [name]: name === "side" ? "left" : [1] }),
                "OPTION",
                RegExp(`^${name} wants a cache`),
              ]),
              ["out: null", () => withOptions({ out: null }), "DTYPE", /^out\b.*Null/],
              ["out: numbers", () => withOptions({ out: [0] }), "DTYPE", /^out\b.*Array/],
              ["out: a Float64Array", () => withOptions({ out: new Float64Array(20) }), "DTYPE", /^out\b/],
              [
                "out: too short",
                () => withOptions({ out: new Float32Array(19) }),
                "SHAPE",
                /out \[19\].*\[1, 2, 2, 5\]/,
              ],
              ["out: too long", () => withOptions({ out: new Float32Array(21) }), "SHAPE", /out \[21\]/],
            ] as Case[])),
      ],
      control,
    );
  });

  test("what is undefined is not given", () => {
    const nothing = { cache: undefined, lengths: undefined, side: undefined, keyLengths: undefined };
    expectSameBits(
      scaledDotProductAttention(q, k, v, nothing).output,
      scaledDotProductAttention(q, k, v).output,
    );
    using cache = new KVCache(cacheSize);
    const options = { ...nothing, cache, window: undefined, sinks: undefined, mask: undefined };
    expectTensor(scaledDotProductAttention(zero, zero, tokens(3), options).output, [1, 1, 1, 1], [3]);
  });

  test("nothing is written into out when the call throws", () => {
    const out = new Float32Array(20).fill(7);
    for (const wrong of [{ mask: flat([NaN], 1) }, { softcap: -1 }, { causal: true }, { sinks: [NaN, 0] }]) {
      expect(() => scaledDotProductAttention(q, k, v, { ...wrong, out })).toThrow();
    }
    expect(out).toEqual(new Float32Array(20).fill(7));
  });

  describe("masks.window", () => {
    const { window } = untyped(masks);
    table(
      [
        ...[["missing", undefined] as [string, unknown], ...sizesThatAreNone].map(([what, L]): Case => [
          `L: ${what}`,
          () => window(L, 2, 1),
          "OPTION",
          /\bL\b/,
        ]),
        ...sizesThatAreNone.map(([what, S]): Case => [
          `S: ${what}`,
          () => window(2, S, 1),
          "OPTION",
          /\bS\b/,
        ]),
        ["window: 0", () => window(2, 2, 0), "OPTION", /window/],
        ["window: text", () => window(2, 2, "1"), "OPTION", /window/],
        ["window: null", () => window(2, 2, null), "OPTION", /window/],
        ["window: missing", () => window(2, 2), "OPTION", /window/],
        ["window: a misspelt side", () => window(2, 2, { lefft: 1 }), "OPTION", /window/],
        ["window.left: negative", () => window(2, 2, { left: -1 }), "OPTION", /window\.left/],
        ["window.right: fractional", () => window(2, 2, { right: 0.5 }), "OPTION", /window\.right/],
        ["align: missing where L ≠ S", () => window(2, 3, 1), "AMBIGUOUS_CAUSAL", /L = 2.*S = 3/],
        ...causalsThatAreNone.map(([what, align]): Case => [
          `align: ${what}`,
          () => window(2, 3, 1, align),
          "OPTION",
          /align/,
        ]),
        ["beyond memory", () => window(2 ** 30, 2 ** 30, 1), "OUT_OF_MEMORY", /\[1073741824, 1073741824\]/],
      ],
      () => expect(numbers(masks.window(2, 2, 1))).toEqual([1, 0, 0, 1]),
    );
  });
});

describe("scaledDotProductAttention over a cache", () => {
  const { cache, disposed } = caches();
  const attend = (q: unknown, k: unknown, v: unknown, options: object = {}) =>
    untyped(scaledDotProductAttention)(q, k, v, { cache, ...options });
  const withOptions = (options: object) => attend(zero, zero, zero, options);
  table(
    [
      ...cachesThatAreNone.map(([what, other]): Case => [
        `cache: ${what}`,
        () => withOptions({ cache: other }),
        "FOREIGN_OBJECT",
        /^cache\b.*KVCache/,
      ]),
      ["cache: disposed", () => withOptions({ cache: disposed }), "DISPOSED", /KVCache/],
      ["q: missing", () => attend(undefined, zero, zero), "DTYPE", /^q\b/],
      [
        "q: more queries than new keys",
        () => attend(zeros([1, 1, 2, 1]), zero, zero),
        "SHAPE",
        /q \[1, 1, 2, 1\], k \[1, 1, 1, 1\]/,
      ],
      [
        "k: another batch",
        () => attend(zero, zeros([2, 1, 1, 1]), zeros([2, 1, 1, 1])),
        "SHAPE",
        /k \[2, 1, 1, 1\]/,
      ],
      [
        "v: another width than the cache",
        () => attend(zero, zero, zeros([1, 1, 1, 2])),
        "SHAPE",
        /v \[1, 1, 1, 2\]/,
      ],
      [
        "q: heads that do not divide",
        () => attend(zeros([1, 3, 1, 1]), zeros([1, 2, 1, 1]), zeros([1, 2, 1, 1])),
        "HEADS",
        /q \[1, 3, 1, 1\], k \[1, 2, 1, 1\]/,
      ],
      [
        "too many tokens",
        () => attend(zeros([1, 1, 3, 1]), zeros([1, 1, 3, 1]), zeros([1, 1, 3, 1])),
        "CACHE_FULL",
        /holds 2 of 4/,
      ],
      ...optionCases(
        (options) =>
          typeof options === "object" && options
            ? withOptions(options)
            : untyped(scaledDotProductAttention)(zero, zero, zero, options),
        {
          causal: { of: causalsThatAreNone },
          needWeights: { of: flagsThatAreNone },
          lengths: { of: [...listsThatAreNone, ["above T", [2]], ...sizesThatAreNone.map(inList)] },
          side: { of: sidesThatAreNone },
          // the cache knows how many keys are real
          keyLengths: { of: [["beside a cache", [3]]], message: /^keyLengths does not go with a cache/ },
          softcap: { of: [["0", 0]] },
          scale: { of: [["NaN", NaN]] },
        },
      ),
      ["lengths: not B", () => withOptions({ lengths: [1, 1] }), "SHAPE", /lengths \[2\].*B = 1/],
      ["sinks: not H", () => withOptions({ sinks: [1, 2] }), "SHAPE", /sinks \[2\].*H = 1/],
      ...maskCases("mask", (mask) => withOptions({ mask }), [2]),
      ["mask: NaN", () => withOptions({ mask: flat([0, NaN, 0], 3) }), "MASK_VALUE", /mask \[3\]/],
      [
        "mask: without the past",
        () => withOptions({ mask: flatBool([1, 1], 1, 2) }),
        "MASK_SHAPE",
        /mask \[1, 2\].*\[1, 1, 1, 3\]/,
      ],
      ["out: too long", () => withOptions({ out: new Float32Array(2) }), "SHAPE", /out \[2\]/],
      ["out: numbers", () => withOptions({ out: [0] }), "DTYPE", /^out\b/],
    ],
    () => {
      holdsOneAndThree(cache);
    },
  );
});

describe("GroupedQueryAttention", () => {
  const config = { hiddenSize: 4, numHeads: 2, numKvHeads: 1, headDim: 2, rope: { layout: "half" as const } };
  // v of each token are its first two numbers, and the output is the mean over the tokens, twice.
  const state = {
    "q_proj.weight": zeros([4, 4]),
    "k_proj.weight": zeros([2, 4]),
    "v_proj.weight": flat([1, 0, 0, 0, 0, 1, 0, 0], 2, 4),
    "o_proj.weight": identity(4),
  };
  const layer = (given: unknown = config, loads = true) => {
    const made = new (GroupedQueryAttention as new (config: unknown) => GroupedQueryAttention)(given);
    if (loads) {
      made.loadStateDict(state);
    }
    return made;
  };
  const attention = layer();
  const empty = layer(config, false);
  const disposed = layer();
  disposed.dispose();
  const held = { batch: 1, numKvHeads: 1, headDim: 2, capacity: 4 };
  const cache = new KVCache(held);
  const goneCache = new KVCache(held);
  goneCache.dispose();
  afterAll(() => {
    for (const alive of [attention, empty, cache]) {
      alive.dispose();
    }
  });
  const x = flat([1, 2, 0, 0, 3, 6, 0, 0], 1, 2, 4);
  const control = () => {
    expectTensor(attention.forward(x).output, [1, 2, 4], [1, 2, 1, 2, 2, 4, 2, 4]);
    expect(cache.lengths).toEqual([0]);
  };

  describe("new", () => {
    const create = (change: object) => () => {
      layer({ ...config, ...change }, false).dispose();
    };
    table(
      [
        [
          "config: missing",
          () => new (GroupedQueryAttention as unknown as new () => unknown)(),
          "OPTION",
          /hiddenSize/,
        ],
        ...optionsThatAreNone.map(([what, value]): Case => [
          `config: ${what}`,
          () => layer(value, false),
          "OPTION",
          /options/,
        ]),
        ["an unknown name", create({ numKeyValueHeads: 1 }), "OPTION", /"numKeyValueHeads"/],
        ["hiddenSize: missing", create({ hiddenSize: undefined }), "OPTION", /hiddenSize/],
        ["numHeads: missing", create({ numHeads: undefined }), "OPTION", /numHeads/],
        ...["hiddenSize", "numHeads", "numKvHeads", "headDim"].flatMap((field) =>
          sizesThatAreNone.map(([what, value]): Case => [
            `${field}: ${what}`,
            create({ [field]: value }),
            "OPTION",
            RegExp(`\\b${field}\\b`),
          ]),
        ),
        ["hiddenSize: 0", create({ hiddenSize: 0 }), "OPTION", /hiddenSize/],
        ["headDim: 0", create({ headDim: 0 }), "OPTION", /headDim/],
        ["numHeads: 0", create({ numHeads: 0, headDim: undefined }), "HEADS", /numHeads = 0/],
        ["numHeads: 0 beside a head dim", create({ numHeads: 0, numKvHeads: 0 }), "HEADS", /numHeads = 0/],
        ["numKvHeads: 0", create({ numKvHeads: 0 }), "HEADS", /numKvHeads = 0/],
        ["numKvHeads: above numHeads", create({ numKvHeads: 4 }), "HEADS", /numKvHeads = 4.*numHeads = 2/],
        [
          "numHeads: does not divide hiddenSize",
          create({ hiddenSize: 5, headDim: undefined }),
          "HEADS",
          /numHeads = 2.*hiddenSize = 5/,
        ],
        ...[...flagsThatAreNone, ["other text", "kv"] as [string, unknown]].map(([what, bias]): Case => [
          `bias: ${what}`,
          create({ bias }),
          "OPTION",
          /\bbias\b/,
        ]),
        ...(
          [
            ["null", null],
            ["1", 1],
            ["text", "yes"],
          ] as [string, unknown][]
        ).flatMap(([what, value]): Case[] => [
          [`qkNorm: ${what}`, create({ qkNorm: value }), "OPTION", /\bqkNorm\b/],
          [`rope: ${what}`, create({ rope: value }), "OPTION", /\brope\b/],
        ]),
        ["rope: true", create({ rope: true }), "OPTION", /\brope\b/],
        ["qkNorm: an unknown name", create({ qkNorm: { epsilon: 1 } }), "OPTION", /"epsilon"/],
        ["qkNorm.eps: text", create({ qkNorm: { eps: "0" } }), "OPTION", /qkNorm\.eps/],
        ["qkNorm.eps: null", create({ qkNorm: { eps: null } }), "OPTION", /qkNorm\.eps/],
        ["qkNorm.eps: negative", create({ qkNorm: { eps: -1 } }), "OPTION", /\beps\b/],
        ["qkNorm.eps: NaN", create({ qkNorm: { eps: NaN } }), "OPTION", /\beps\b/],
        ["rope: no layout", create({ rope: {} }), "OPTION", /layout.*"half".*"interleaved"/],
        [
          "rope: positions belong to the call",
          create({ rope: { layout: "half", positions: 1 } }),
          "OPTION",
          /"positions"/,
        ],
        ["rope.theta: 0", create({ rope: { layout: "half", theta: 0 } }), "OPTION", /theta/],
        ["rope.theta: NaN", create({ rope: { layout: "half", theta: NaN } }), "OPTION", /theta/],
        ["rope.dims: odd", create({ rope: { layout: "half", dims: 1 } }), "OPTION", /dims = 1/],
        [
          "rope.dims: above the head dim",
          create({ rope: { layout: "half", dims: 4 } }),
          "OPTION",
          /dims = 4/,
        ],
        ["rope: an odd head dim", create({ headDim: 3, rope: { layout: "half" } }), "SHAPE", /3/],
        [
          "rope.scaling: another type",
          create({ rope: { layout: "half", scaling: { type: "linear" } } }),
          "OPTION",
          /scaling\.type/,
        ],
      ],
      control,
    );
  });

  describe("loadStateDict", () => {
    const load_ = (given: unknown) => untyped(attention).loadStateDict(given);
    const without = (name: string) =>
      Object.fromEntries(Object.entries(state).filter(([key]) => key !== name));
    table(
      [
        ["missing", () => load_(undefined), "STATE_DICT", /state/],
        ["null", () => load_(null), "STATE_DICT", /state/],
        ["text", () => load_("q_proj"), "STATE_DICT", /state/],
        ...Object.keys(state).flatMap((name): Case[] => [
          [`${name}: missing`, () => load_(without(name)), "STATE_DICT", RegExp(`${name}.*missing`)],
          [`${name}: text`, () => load_({ ...state, [name]: "x" }), "DTYPE", RegExp(name)],
          [`${name}: undefined`, () => load_({ ...state, [name]: undefined }), "DTYPE", RegExp(name)],
          [
            `${name}: a wrong shape`,
            () => load_({ ...state, [name]: zeros([3, 4]) }),
            "SHAPE",
            RegExp(`${name}.*\\[3, 4\\].*expected`),
          ],
          [
            `${name}: a wrong rank`,
            () => load_({ ...state, [name]: zeros([4]) }),
            "SHAPE",
            RegExp(`${name}.*\\[4\\]`),
          ],
        ]),
        [
          "unexpected: a bias",
          () => load_({ ...state, "q_proj.bias": zeros([4]) }),
          "STATE_DICT",
          /q_proj\.bias/,
        ],
        [
          "unexpected: a norm",
          () => load_({ ...state, "q_norm.weight": zeros([2]) }),
          "STATE_DICT",
          /q_norm\.weight/,
        ],
        [
          "unexpected: torch's name",
          () => load_({ ...state, in_proj_weight: zeros([4]) }),
          "STATE_DICT",
          /in_proj_weight/,
        ],
      ],
      control,
    );
  });

  describe.each([
    ["forward", (...args: unknown[]) => untyped(attention).forward(...args)],
    ["trace", (...args: unknown[]) => untyped(attention).trace(...args)],
  ])("%s", (path, attend) => {
    const withOptions = (options: object) => attend(x, options);
    const two = zeros([2, 2, 4]);
    table(
      [
        ...tensorsThatAreNone.map(([what, given]): Case => [
          `x: ${what}`,
          () => attend(given),
          "DTYPE",
          /^x\b/,
        ]),
        ["x: one axis", () => attend([1, 2, 3, 4]), "RANK", /^x \[4\].*2 to 3/],
        ["x: four axes", () => attend(zeros([1, 1, 2, 4])), "RANK", /^x \[1, 1, 2, 4\]/],
        ["x: another width", () => attend(zeros([2, 3])), "SHAPE", /x .*2, 3\].*4/],
        ["x: too few elements", () => attend({ data: [1], shape: [1, 4] }), "SHAPE", /^x\b.*\[1, 4\]/],
        ...optionCases((options) => attend(x, options), {
          causal: { of: [...flagsThatAreNone, ["an alignment", "bottom-right"]] },
          needWeights: { of: path === "forward" ? flagsThatAreNone : [["unknown to trace", true]] },
          lengths: { of: [...listsThatAreNone, ["above L", [3]], ...sizesThatAreNone.map(inList)] },
          side: { of: sidesThatAreNone },
        }),
        ["options: mask is keyMask", () => withOptions({ mask: [true, true] }), "OPTION", /"mask"/],
        ["lengths: not B", () => withOptions({ lengths: [1, 1] }), "SHAPE", /lengths \[2\].*B = 1/],
        ...maskCases("keyMask", (keyMask) => withOptions({ keyMask }), [2, 1]),
        ["keyMask: NaN", () => withOptions({ keyMask: flat([0, NaN], 1, 2) }), "MASK_VALUE", /keyMask/],
        [
          "keyMask: +Infinity",
          () => withOptions({ keyMask: flat([0, Infinity], 1, 2) }),
          "MASK_VALUE",
          /keyMask/,
        ],
        [
          "keyMask: [S] beside a batch",
          () => attend(two, { keyMask: [true, true] }),
          "MASK_SHAPE",
          /keyMask \[2\].*\[2, 2\]/,
        ],
        [
          "keyMask: another batch",
          () => attend(two, { keyMask: [[true, true]] }),
          "MASK_SHAPE",
          /keyMask \[1, 2\].*\[2, 2\]/,
        ],
        [
          "keyMask: [L, S] in four axes",
          () => withOptions({ keyMask: flatBool([1, 1, 1, 1], 1, 1, 2, 2) }),
          "MASK_SHAPE",
          /keyMask/,
        ],
        ["positions: null", () => withOptions({ positions: null }), "DTYPE", /positions/],
        ["positions: text", () => withOptions({ positions: "0" }), "DTYPE", /positions/],
        [
          "positions: a Float32Array",
          () => withOptions({ positions: new Float32Array(2) }),
          "DTYPE",
          /positions/,
        ],
        ["positions: negative", () => withOptions({ positions: -1 }), "OPTION", /positions/],
        ["positions: fractional", () => withOptions({ positions: [0, 0.5] }), "OPTION", /positions/],
        ["positions: NaN", () => withOptions({ positions: [0, NaN] }), "OPTION", /positions/],
        ["positions: too large", () => withOptions({ positions: [0, 2 ** 31] }), "OPTION", /positions/],
        [
          "positions: too few",
          () => withOptions({ positions: [0] }),
          "SHAPE",
          /positions \[1\].*\[2\].*\[1, 2\]/,
        ],
        [
          "positions: another batch",
          () => attend(two, { positions: [[0, 1]] }),
          "SHAPE",
          /positions \[1, 2\].*\[2, 2\]/,
        ],
        ...cachesThatAreNone.map(([what, other]): Case => [
          `cache: ${what}`,
          () => withOptions({ cache: other }),
          "FOREIGN_OBJECT",
          /^cache\b.*KVCache/,
        ]),
        ["cache: a layer", () => withOptions({ cache: attention }), "FOREIGN_OBJECT", /^cache\b/],
        ["cache: disposed", () => withOptions({ cache: goneCache }), "DISPOSED", /KVCache/],
        [
          "cache: of another batch",
          () => attend(two, { cache }),
          "SHAPE",
          /cache \[1, 1, 4, 2\].*\[2, 1, 4, 2\]/,
        ],
        ["cache: too small", () => attend(zeros([1, 5, 4]), { cache }), "CACHE_FULL", /holds 0 of 4.*5/],
        [
          "cache: beside a mask without the past",
          () => withOptions({ cache, keyMask: [[true, true, true]] }),
          "MASK_SHAPE",
          /keyMask \[1, 3\].*\[1, 2\]/,
        ],
      ],
      control,
    );

    test("a cache of other heads or another width", () => {
      for (const size of [
        { ...held, numKvHeads: 2 },
        { ...held, headDim: 3 },
      ]) {
        using other = new KVCache(size);
        const given = RegExp(`cache \\[1, ${size.numKvHeads}, 4, ${size.headDim}\\].*\\[1, 1, 4, 2\\]`);
        expectError(() => withOptions({ cache: other }), "SHAPE", given);
        expect(other.lengths).toEqual([0]);
      }
      control();
    });
  });

  describe("the wrong object", () => {
    const { loadStateDict, forward, trace, dispose } = GroupedQueryAttention.prototype;
    const calls: [string, (self: unknown) => unknown][] = [
      ["loadStateDict", (self) => loadStateDict.call(untyped(self), state)],
      ["forward", (self) => forward.call(untyped(self), x)],
      ["trace", (self) => trace.call(untyped(self), x)],
    ];
    const strangers: [string, unknown][] = [
      ["undefined", undefined],
      ["an object", {}],
      ["a cache", cache],
      ["an heir without a handle", Object.create(GroupedQueryAttention.prototype)],
    ];
    table(
      [
        ...calls
          .slice(1)
          .map(([name, call]): Case => [
            `${name} before loadStateDict`,
            () => call(empty),
            "STATE_DICT",
            /loadStateDict/,
          ]),
        ...calls.map(([name, call]): Case => [
          `${name} after dispose`,
          () => call(disposed),
          "DISPOSED",
          /GroupedQueryAttention/,
        ]),
        ...strangers.flatMap(([what, self]) =>
          calls.map(([name, call]): Case => [
            `${name} on ${what}`,
            () => call(self),
            "FOREIGN_OBJECT",
            /GroupedQueryAttention/,
          ]),
        ),
        ["dispose on an object", () => dispose.call(untyped({})), "FOREIGN_OBJECT", /softlookup/],
      ],
      control,
    );
  });

  test("layers and caches of another instance", async () => {
    const other = await load();
    const strangerLayer = new other.GroupedQueryAttention(config);
    const strangerCache = new other.KVCache(held);
    strangerLayer.loadStateDict(state);
    expectError(
      () => GroupedQueryAttention.prototype.forward.call(strangerLayer, x),
      "FOREIGN_OBJECT",
      /GroupedQueryAttention/,
    );
    expectError(() => attention.forward(x, { cache: strangerCache }), "FOREIGN_OBJECT", /^cache\b/);
    expectError(() => strangerLayer.forward(x, { cache }), "FOREIGN_OBJECT", /^cache\b/);
    expectError(
      () => KVCache.prototype.append.call(strangerCache, zeros([1, 1, 1, 2]), zeros([1, 1, 1, 2])),
      "FOREIGN_OBJECT",
      /KVCache/,
    );
    expect(strangerCache.lengths).toEqual([0]);
    expectSameBits(strangerLayer.forward(x).output, attention.forward(x).output);
    strangerLayer.dispose();
    strangerCache.dispose();
    expect(other.memoryUsage().objects).toBe(0);
    control();
  });
});
