// Numbers from PyTorch and from the course, in float64, against the package.

import { afterAll, describe, expect, test } from "vitest";
import {
  MultiHeadAttention,
  cost,
  dotProductMoments,
  faultyAttention,
  moments,
  rowSums,
  scaledDotProductAttention,
  softmax,
  splitHeads,
  zeros,
  type AttentionCallOptions,
  type MaskLike,
  type MaskOptions,
  type Tensor,
} from "softlookup";
import courseFile from "../golden/course.json" with { type: "json" };
import causalBottomRightFile from "../golden/causal_bottom_right.json" with { type: "json" };
import mhaFile from "../golden/mha.json" with { type: "json" };
import minimindFile from "../golden/minimind.json" with { type: "json" };
import notYetCovered from "../golden/not_yet_covered.json" with { type: "json" };
import ropeFile from "../golden/rope.json" with { type: "json" };
import sdpaFile from "../golden/sdpa.json" with { type: "json" };
import variantsFile from "../golden/variants.json" with { type: "json" };
import { runMiniMind, runRope, runVariant } from "./golden-parts.js";
import { GoldenRun, type GoldenFile } from "./golden.js";
import { plainSoftmax } from "./oracle.js";
import {
  expectAgree,
  expectClose,
  expectSameBits,
  flat,
  flatBool,
  leavesNothingAlive,
  numbers,
  step,
} from "./support.js";

interface Family {
  file: GoldenFile;
  /** Parameters that say what the shapes say already. */
  informative: readonly string[];
  run: (golden: GoldenRun) => void;
}

// --- scaled dot-product attention -----------------------------------------------------------------

function runAttention(golden: GoldenRun, { mask, causal }: MaskOptions): void {
  const [q, k, v] = [golden.tensor("q"), golden.tensor("k"), golden.tensor("v")];
  const options = {
    mask: golden.has("attn_mask") ? golden.scoreMask("attn_mask") : mask,
    causal,
    scale: golden.param("scale") as number | undefined,
    keyLengths: golden.has("kv_lengths") ? Array.from(golden.integers("kv_lengths").data) : undefined,
  };
  const { output, weights } = scaledDotProductAttention(q, k, v, { ...options, needWeights: true });
  golden.compare("output", output);
  golden.compare("weights", weights as Tensor);

  const plain = scaledDotProductAttention(q, k, v, options);
  expect("weights" in plain).toBe(false);
  expectSameBits(plain.output, output);
  const trace = scaledDotProductAttention.trace(q, k, v, options);
  golden.compare("output", step(trace, "output"));
  expectAgree(step(trace, "output"), output);
  expectSameBits(step(trace, "weights"), weights as Tensor);
}

function runSdpa(golden: GoldenRun): void {
  runAttention(golden, { causal: golden.flag("is_causal") ? "top-left" : false });
}

function runCausalBottomRight(golden: GoldenRun): void {
  expect(golden.param("causal")).toBe("bottom-right");
  runAttention(
    golden,
    golden.has("kv_lengths") ? { mask: maskOfLengths(golden) } : { causal: "bottom-right" },
  );
}

/** [B, 1, L, S]: of the first n keys of a sample, query i of L sees j ≤ i + n − L. */
function maskOfLengths(golden: GoldenRun): MaskLike {
  const [B, L, S] = [golden.number("B"), golden.number("L"), golden.number("S")];
  const keep = [...golden.integers("kv_lengths").data].flatMap((n) =>
    Array.from({ length: L * S }, (_, place) => {
      const [i, j] = [Math.floor(place / S), place % S];
      return j < n && j <= i + n - L;
    }),
  );
  return flatBool(keep, B, 1, L, S);
}

const sdpaShape = [
  "B",
  "Hq",
  "Hkv",
  "L",
  "S",
  "E",
  "Ev",
  "enable_gqa",
  "mask",
  "fully_masked_rows",
  "precision",
].map((name) => `params.${name}`);

// --- multi-head attention -------------------------------------------------------------------------

const parameterNames = [
  "in_proj_weight",
  "q_proj_weight",
  "k_proj_weight",
  "v_proj_weight",
  "in_proj_bias",
  "bias_k",
  "bias_v",
  "out_proj.weight",
  "out_proj.bias",
];

function runMultiHead(golden: GoldenRun): void {
  const embedDim = golden.number("embed_dim");
  const numHeads = golden.number("num_heads");
  const attention = new MultiHeadAttention({
    embedDim,
    numHeads,
    bias: golden.flag("bias"),
    kdim: golden.param("kdim") as number | undefined,
    vdim: golden.param("vdim") as number | undefined,
    addBiasKv: golden.flag("add_bias_kv"),
    addZeroAttn: golden.flag("add_zero_attn"),
  });
  try {
    const names = parameterNames.filter((name) => golden.has(name));
    attention.loadStateDict(Object.fromEntries(names.map((name) => [name, golden.tensor(name)])));

    const arrange = golden.flag("batch_first") ? (x: Tensor) => x : swapFirstAxes;
    const query = arrange(golden.tensor("query"));
    expect(golden.has("key")).toBe(!golden.flag("self_attention"));
    const key = golden.has("key") ? arrange(golden.tensor("key")) : query;
    const value = golden.has("value") ? arrange(golden.tensor("value")) : key;
    const options = {
      keyMask: golden.has("key_padding_mask")
        ? golden.mask("key_padding_mask", "true = left out")
        : undefined,
      mask: golden.has("attn_mask") ? attentionMask(golden, numHeads) : undefined,
    };

    const averageWeights = golden.flag("average_attn_weights");
    const { output, weights } = attention.forward(query, key, value, {
      ...options,
      needWeights: true,
      averageWeights,
    });
    golden.compare("output", arrange(output));
    golden.compare("weights", weights as Tensor);

    const plain = attention.forward(query, key, value, options);
    expect("weights" in plain).toBe(false);
    expectSameBits(plain.output, output);
    const trace = attention.trace(query, key, value, options);
    golden.compare("output", arrange(step(trace, "output")));
    expectAgree(step(trace, "output"), output);
    if (!averageWeights) {
      golden.compare("weights", step(trace, "weights"));
    }
  } finally {
    attention.dispose();
  }
}

/** [B·H, L, S], the heads of one batch entry side by side → [B, H, L, S] */
function attentionMask(golden: GoldenRun, numHeads: number): MaskLike {
  const { data, shape } = golden.mask("attn_mask", "true = left out");
  const [first = 0, ...rest] = shape;
  return { data, shape: shape.length === 3 ? [first / numHeads, numHeads, ...rest] : shape } as MaskLike;
}

/** [L, B, D] ↔ [B, L, D] */
function swapFirstAxes({ data, shape }: Tensor): Tensor {
  const [rows, columns, width] = shape as [number, number, number];
  const swapped = Array.from({ length: rows * columns * width }, (_, index) => {
    const [c, r, e] = [Math.floor(index / width / rows), Math.floor(index / width) % rows, index % width];
    return data[(r * columns + c) * width + e] as number;
  });
  return flat(swapped, columns, rows, width);
}

// --- the course -----------------------------------------------------------------------------------

function runCourse(golden: GoldenRun): void {
  const [topic] = golden.name.split("_");
  if (topic === "parameters") {
    return golden.name.includes("gqa") || golden.name.includes("minimind")
      ? runGroupedParameters(golden)
      : runParameters(golden);
  }
  const run = courseTopics[topic as keyof typeof courseTopics] ?? courseCases[golden.name];
  if (run === undefined) {
    throw new Error(`no test knows the course's ${golden.name}`);
  }
  run(golden);
}

const courseTopics: Readonly<Record<string, (golden: GoldenRun) => void>> = {
  memory(golden) {
    const { elements, bytes } = cost.scoresMemory({
      length: golden.number("n"),
      numHeads: golden.number("heads"),
      batch: golden.number("batch"),
      bytesPerElement: golden.number("bytes_per_element"),
    });
    golden.compare("elements", elements);
    golden.compare("bytes", bytes);
    golden.compare("mib", bytes / 2 ** 20);
  },

  kv(golden) {
    const { bytes } = cost.kvCacheMemory({
      length: golden.number("n"),
      layers: golden.number("layers"),
      numKvHeads: golden.number("kv_heads"),
      headDim: golden.number("d_head"),
      batch: golden.number("batch"),
      bytesPerElement: golden.number("bytes_per_element"),
    });
    golden.compare("bytes", bytes);
    golden.compare("mib", bytes / 2 ** 20);
  },

  flops(golden) {
    const size = { length: golden.number("n"), modelDim: golden.number("d_model") };
    if (golden.name === "flops_decode_step") {
      const { projection, attention, total } = cost.decodeOperations(size);
      golden.compare("projection", projection);
      golden.compare("attention", attention);
      golden.compare("total", total);
      return;
    }
    const operations = cost.operations(size);
    golden.compare("qkv_projection", operations.qkvProjection);
    golden.compare("out_projection", operations.outputProjection);
    golden.compare("scores", operations.scores);
    golden.compare("weighted_sum", operations.weightedSum);
    golden.compare("attention", operations.attention);
    golden.compare("total", operations.total);
    golden.compare("share_attention", operations.attentionShare);
  },
};

function runParameters(golden: GoldenRun): void {
  const [modelDim, numHeads] = [golden.number("d_model"), golden.number("heads")];
  const layer = cost.parameters({ modelDim, numHeads });
  const qkv = layer.query + layer.key + layer.value;
  golden.compare("qkv", qkv);
  golden.compare("per_head_qkv", qkv / numHeads);
  golden.compare("out", layer.output);
  golden.compare("total", layer.total);
  golden.compare("total_with_bias", cost.parameters({ modelDim, numHeads, bias: true }).total);
  const [, , headDim] = splitHeads(zeros([1, modelDim]), numHeads).shape;
  golden.compare("d_head", headDim as number);
  expect(headDim).toBe(golden.number("d_head"));
  const attention = new MultiHeadAttention({ embedDim: modelDim, numHeads });
  expect(attention.parameterCount).toBe(cost.parameters({ modelDim, numHeads, bias: true }).total);
  attention.dispose();
}

function runGroupedParameters(golden: GoldenRun): void {
  const isMiniMind = golden.name.includes("minimind");
  const layer = cost.parameters({
    modelDim: golden.number(isMiniMind ? "hidden_size" : "d_model"),
    numHeads: golden.number("heads"),
    numKvHeads: golden.number("kv_heads"),
    headDim: golden.number("d_head"),
    qkNorm: isMiniMind,
  });
  golden.compare("q", layer.query);
  golden.compare("k", layer.key);
  golden.compare("v", layer.value);
  golden.compare("out", layer.output);
  golden.compare("total", layer.total);
  if (isMiniMind) {
    golden.compare("norms", layer.norms);
  }
}

/** The trace of the chapter's Q, K and V. */
function traceToy(golden: GoldenRun, options: AttentionCallOptions) {
  const [q, k, v] = [golden.tensor("Q"), golden.tensor("K"), golden.tensor("V")];
  const trace = scaledDotProductAttention.trace(q, k, v, options);
  expectAgree(scaledDotProductAttention(q, k, v, options).output, step(trace, "output"));
  return trace;
}

const courseCases: Readonly<Record<string, (golden: GoldenRun) => void>> = {
  toy_full(golden) {
    const trace = traceToy(golden, {});
    expect(trace.steps.map(({ id }) => id)).toEqual([
      "scores",
      "scaled",
      "masked",
      "rowMax",
      "exp",
      "rowSum",
      "weights",
      "output",
    ]);
    golden.compare("qk", step(trace, "scores"));
    golden.compare("scaled", step(trace, "scaled"));
    expectSameBits(step(trace, "masked"), step(trace, "scaled"));
    // The chapter does not subtract the row's maximum, which divides each exp by exp(maximum).
    const rowMax = numbers(step(trace, "rowMax"));
    const undo = (data: ArrayLike<number>, perRow: number) =>
      Array.from(data, (value, i) => value * Math.exp(rowMax[Math.floor(i / perRow)] as number));
    golden.compare("exp", { data: undo(step(trace, "exp").data, 4), shape: [4, 4] });
    golden.compare("row_sum_exp", {
      data: undo(step(trace, "rowSum").data, 1),
      shape: step(trace, "rowSum").shape,
    });
    golden.compare("weights", step(trace, "weights"));
    golden.compare("row_sums", rowSums(step(trace, "weights")));
    golden.compare("output", step(trace, "output"));
  },

  toy_unscaled(golden) {
    const trace = traceToy(golden, { scale: golden.number("scale") });
    golden.compare("weights", step(trace, "weights"));
    golden.compare("output", step(trace, "output"));
  },

  toy_causal(golden) {
    const trace = traceToy(golden, { causal: golden.flag("is_causal") });
    golden.compare("masked", step(trace, "masked"));
    golden.compare("weights", step(trace, "weights"));
    golden.compare("output", step(trace, "output"));
  },

  toy_padding(golden) {
    const trace = traceToy(golden, { mask: golden.mask("key_mask") });
    golden.compare("weights", step(trace, "weights"));
    golden.compare("output", step(trace, "output"));
  },

  padding_row(golden) {
    const [logits, mask] = [golden.tensor("logits"), golden.mask("mask")];
    const trace = softmax.trace(logits, { mask });
    golden.compare("masked", step(trace, "masked"));
    golden.compare("weights", step(trace, "weights"));
    expectSameBits(softmax(logits, { mask }), step(trace, "weights"));
    golden.compare("row_sum", rowSums(step(trace, "weights")));
    golden.compare("full_softmax", softmax(logits));
  },

  padding_row_1e9(golden) {
    const additive = golden.number("additive");
    const keep = golden.mask("mask");
    const mask = {
      data: Float32Array.from(keep.data, (kept) => (kept === 1 ? 0 : additive)),
      shape: keep.shape,
    };
    golden.compare("weights", softmax(golden.tensor("logits"), { mask }));
  },

  padding_row_wrong(golden) {
    const [logits, mask] = [golden.tensor("logits"), golden.mask("mask")];
    const trace = faultyAttention.softmaxThenMask(logits, { mask });
    expect(trace.steps.map(({ id }) => id)).toEqual(["rowMax", "exp", "rowSum", "softmax", "weights"]);
    expectSameBits(step(trace, "softmax"), softmax(logits));
    const weights = step(trace, "weights");
    const [sum] = numbers(rowSums(weights)) as [number];
    golden.compare("wrong_weights", weights);
    golden.compare("wrong_row_sum", sum);
    golden.compare("lost", 1 - sum);
    golden.compare("renormalised", {
      data: numbers(weights).map((weight) => weight / sum),
      shape: weights.shape,
    });
    expectClose(
      softmax(logits, { mask }).data,
      numbers(weights).map((weight) => weight / sum),
      { abs: 1e-6, rel: 0 },
    );
  },

  causal_wrong(golden) {
    const [q, k, v] = [golden.tensor("Q"), golden.tensor("K"), golden.tensor("V")];
    const scaled = step(scaledDotProductAttention.trace(q, k, v), "scaled");
    const weights = step(faultyAttention.softmaxThenMask(scaled, { causal: true }), "weights");
    golden.compare("wrong_weights", weights);
    golden.compare("wrong_row_sums", rowSums(weights));
    golden.compare("wrong_output", faultyAttention("mask-after-softmax", q, k, v));
  },

  softmax_shift(golden) {
    golden.compare("weights", softmax(golden.tensor("logits")));
  },

  fully_masked_row(golden) {
    const [logits, mask] = [golden.tensor("logits"), golden.mask("mask")];
    const trace = softmax.trace(logits, { mask });
    golden.compare("weights", step(trace, "weights"));
    golden.compare("naive", { data: plainSoftmax(numbers(step(trace, "masked"))), shape: logits.shape });
  },

  variance_theory(golden) {
    const samples = golden.number("samples");
    const dims = golden.param("d_k") as number[];
    const theory = dims.map((headDim) => dotProductMoments(headDim, samples));
    const column = (pick: (of: (typeof theory)[number]) => number) => ({
      data: theory.map(pick),
      shape: [theory.length],
    });
    golden.compare(
      "variance",
      column((of) => of.variance),
    );
    golden.compare(
      "std",
      column((of) => of.standardDeviation),
    );
    golden.compare(
      "variance_scaled",
      column((of) => of.varianceScaled),
    );
    golden.compare(
      "kurtosis",
      column((of) => of.kurtosis),
    );
    golden.compare(
      "relative_standard_error",
      column((of) => of.relativeStandardError),
    );
  },

  variance_signs(golden) {
    const variances = (golden.param("d_k") as number[]).map((headDim) => {
      const pairs = 4 ** headDim; // bit e of a pair's number is the sign in q, bit headDim + e the sign in k
      const signs = (first: number) =>
        flat(
          Array.from({ length: pairs * headDim }, (_, index) => {
            const pair = Math.floor(index / headDim);
            return (pair >> (first + (index % headDim))) & 1 ? 1 : -1;
          }),
          pairs,
          1,
          1,
          headDim,
        );
      return moments(dotProducts(signs(0), signs(headDim)).raw).variance;
    });
    golden.compare("variance", { data: variances, shape: [variances.length] });
  },

  ...Object.fromEntries(
    [1, 4, 16, 64].map((headDim) => [
      `variance_sample_d${headDim}`,
      (golden: GoldenRun) => {
        expect(golden.number("d_k")).toBe(headDim);
        const samples = golden.number("samples");
        const column = ({ data }: Tensor): Tensor => ({ data, shape: [samples, 1, 1, headDim] });
        const { raw, scaled } = dotProducts(column(golden.tensor("q")), column(golden.tensor("k")));
        golden.compare("dots", { data: raw.data, shape: [samples] });
        golden.compare("mean", moments(raw).mean);
        golden.compare("variance", moments(raw).variance);
        golden.compare("variance_unbiased", moments(raw).varianceUnbiased);
        golden.compare("variance_scaled", moments(scaled).variance);
      },
    ]),
  ),
};

/** One q·k a batch entry. */
function dotProducts(q: Tensor, k: Tensor): { raw: Tensor; scaled: Tensor } {
  const trace = scaledDotProductAttention.trace(q, k, k);
  return { raw: step(trace, "scores"), scaled: step(trace, "scaled") };
}

// --- all of them ----------------------------------------------------------------------------------

const families: Readonly<Record<string, Family>> = {
  course: {
    file: courseFile as unknown as GoldenFile,
    informative: ["params.d_k", "params.d_head"],
    run: runCourse,
  },
  sdpa: {
    file: sdpaFile as unknown as GoldenFile,
    informative: sdpaShape,
    run: runSdpa,
  },
  causal_bottom_right: {
    file: causalBottomRightFile as unknown as GoldenFile,
    informative: sdpaShape,
    run: runCausalBottomRight,
  },
  mha: {
    file: mhaFile as unknown as GoldenFile,
    informative: ["params.B", "params.L", "params.S"],
    run: runMultiHead,
  },
  rope: {
    file: ropeFile as unknown as GoldenFile,
    informative: [],
    run: runRope,
  },
  variants: {
    file: variantsFile as unknown as GoldenFile,
    informative: [
      ...sdpaShape,
      ...["score", "attention_dim", "scale", "window", "alibi"].map((name) => `params.${name}`),
    ],
    run: runVariant,
  },
  minimind: {
    file: minimindFile as unknown as GoldenFile,
    // what follows from the others, or stands in a note
    informative: ["end", "low", "high", "B", "all_padding_rows"].map((name) => `params.${name}`),
    run: runMiniMind,
  },
};

describe.each(Object.entries(families))("golden: %s", (name, { file, informative, run }) => {
  leavesNothingAlive();
  const ran = new Set<string>();

  test.each(file.cases.map((golden) => [golden.name, golden] as const))("%s", (caseName, golden) => {
    const current = new GoldenRun(golden);
    run(current);
    current.finish({ informative });
    ran.add(caseName);
  });

  test("no case is listed as not yet covered", () => {
    expect(file.format).toBe(1);
    expect(file.family).toBe(name);
    expect(notYetCovered.filter(({ family }) => family === name)).toEqual([]);
  });

  afterAll(() => {
    console.log(`golden ${name}: ${ran.size} of ${file.cases.length} cases ran`);
  });
});
