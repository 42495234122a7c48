import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { interleave } from "./measure.mjs";
import { referenceOf } from "./reference.mjs";
import { quotable, reportMarkdown } from "./report.mjs";
import { quantile, ratios, summary } from "./statistics.mjs";
import { operations, swapAxes } from "./workloads.mjs";

const close = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}, not ${expected}`);

test("quantiles lie between the sorted values", () => {
  assert.deepEqual(summary([10, 1, 2, 3]), { median: 2.5, low: 1.75, high: 4.75 });
  assert.equal(quantile([7], 0.25), 7);
});

test("ratios are taken round by round, where both took part", () => {
  assert.deepEqual(ratios([4, 9], [2, 3, 5]), [2, 3]);
  assert.deepEqual(ratios([4, 9, 7], [2]), [2]);
});

const effort = { rounds: 3, fewest: 2, sampleMs: 0, warmMs: 0, budgetMs: Infinity };

test("each round begins with another contender, each sample with a reset", async () => {
  let log = "";
  const contenders = ["a", "b"].map((name) => ({
    run: () => (log += name),
    reset: () => (log += "."),
  }));
  const times = await interleave(contenders, effort);
  assert.equal(log, ".a.b.b.a.a.b");
  assert.deepEqual(
    times.map(({ length }) => length),
    [3, 3],
  );
});

test("a promise is waited for before the next contender starts", async () => {
  let log = "";
  const slow = async () => {
    log += "(";
    await new Promise(setImmediate);
    log += ")";
  };
  await interleave([{ run: slow }, { run: () => (log += "x") }], { ...effort, rounds: 1 });
  assert.equal(log, "()x");
});

test("who is over the budget leaves, but not before the fewest rounds", async () => {
  const [times] = await interleave([{ run: () => {} }], { ...effort, budgetMs: -1 });
  assert.equal(times.length, effort.fewest);
});

test("heads first and heads last", () => {
  const headsFirst = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); // [2, 3, 2]
  const headsLast = Float32Array.of(1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12); // [3, 2, 2]
  assert.deepEqual(swapAxes(headsFirst, 2, 3), headsLast);
  assert.deepEqual(swapAxes(headsLast, 3, 2), headsFirst);
});

const shape = { kind: "attention", heads: 2, kvHeads: 1, queries: 2, keys: 2, headDim: 1 };
// Head 0: every score is 0, so the mean of the values; head 1: weights 1 to 3, for exp(ln 3 · 1) = 3.
const inputs = {
  q: Float64Array.of(0, 0, 1, 1),
  k: Float64Array.of(0, Math.log(3)),
  v: Float64Array.of(4, 8),
};

test("the reference is attention: each head its own queries, a shared key head", () => {
  close(referenceOf(shape, inputs)(Float64Array.of(6, 6, 7, 7)), 0);
});

test("the reference's causal rows see themselves and what is before", () => {
  close(referenceOf({ ...shape, causal: true }, inputs)(Float64Array.of(4, 6, 4, 7)), 0);
});

test("the error is relative to the whole, and infinite for a wrong size", () => {
  const errorOf = referenceOf(shape, inputs);
  close(errorOf(new Float64Array(4)), 1);
  close(errorOf(Float64Array.of(12, 12, 14, 14)), 1);
  assert.equal(errorOf(Float64Array.of(6, 6, 7)), Infinity);
  assert.ok(Number.isNaN(errorOf(Float64Array.of(6, NaN, 7, 7)))); // which no tolerance admits
});

test("a layer's reference: projections, heads, output projection", () => {
  // D = 2, two heads of one: q and k are 0, v is x + 1, so each row is the mean; then the two are swapped.
  const layer = { kind: "layer", heads: 2, kvHeads: 2, queries: 2, keys: 2, headDim: 1 };
  const errorOf = referenceOf(layer, {
    x: Float64Array.of(1, 10, 3, 30),
    inWeight: Float64Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1),
    inBias: Float64Array.of(0, 0, 0, 0, 1, 1),
    outWeight: Float64Array.of(0, 1, 1, 0),
    outBias: Float64Array.of(0, 0.5),
  });
  close(errorOf(Float64Array.of(21, 3.5, 21, 3.5)), 0);
});

test("operations: two for each multiply-add, of what a causal mask leaves", () => {
  const square = { kind: "attention", heads: 3, queries: 2, keys: 2, headDim: 5 };
  assert.equal(operations(square), 3 * 4 * 5 * 4);
  assert.equal(operations({ ...square, causal: true }), 3 * 3 * 5 * 4);
  assert.equal(operations({ ...square, kind: "layer" }), 3 * 4 * 5 * 4 + 2 * 4 * 2 * 15 * 15);
});

const work = 4 * 8 * 1024 * 1024 * 64; // of full-1024
const results = [
  { peer: "softlookup, plain", error: 5e-7, times: [10, 10] },
  { peer: "a library", form: "slow", error: 1e-6, times: [30, 30] },
  { peer: "a library", form: "fast", error: 1e-6, times: [20, 20] },
  { peer: "peak", unit: "operations", amount: work, times: [7, 5] },
];
const refused = [{ peer: "another", reason: "it cannot" }];
const run = { engines: [{ engine: "An engine", workloads: [{ id: "full-1024", results, refused }] }] };

test("the report: ratio to a library's best form, share of the best reading", () => {
  const markdown = reportMarkdown(run);
  assert.match(markdown, /\| n=1024 full \| 2\.00× \(2\.00–2\.00\) \| 50 % of peak \| 5\.0e-7 \|/);
  assert.match(markdown, /- n=1024 full: another: it cannot/);
});

test("what is quoted: the medians", () => {
  const rows = [{ id: "full-1024", form: undefined, against: { "a library": 2 }, share: 0.5, error: 5e-7 }];
  assert.deepEqual(quotable(run, "a day"), {
    date: "a day",
    engines: [{ engine: "An engine", contenders: [{ name: "softlookup, plain", rows }] }],
  });
});

test("the READMEs quote what was recorded", () => {
  const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
  const { contenders } = JSON.parse(read("measured.json")).engines.find(({ engine }) =>
    engine.startsWith("Node"),
  );
  const ratio = (rows, wanted) => rows.find(({ id }) => id === wanted).against["onnxruntime-web"];
  const quoted = ["causal-1024", "layer-512"].flatMap((id) =>
    contenders.map(({ rows }) => ratio(rows, id).toFixed(2)),
  );
  assert.equal(quoted.length, 4);
  for (const name of ["../README.md", "../README.zh.md"]) {
    const figures = read(name).match(/(?<![\d.])\d\.\d\d(?![\d])/g);
    assert.deepEqual(
      quoted.filter((figure) => !figures.includes(figure)),
      [],
      name,
    );
  }
});
