// The golden cases of rotary embedding, norm, the other forms of attention, and grouped-query attention.

import { expect } from "vitest";
import {
  GroupedQueryAttention,
  KVCache,
  additiveAttention,
  linearAttention,
  rmsNorm,
  rope,
  ropeTable,
  scaledDotProductAttention,
  type MaskLike,
  type RopeOptions,
  type Tensor,
} from "softlookup";
import type { GoldenRun } from "./golden.js";
import { expectSameBits, flat, numbers, step } from "./support.js";

export function runRope(golden: GoldenRun): void {
  if (golden.param("op") === "rmsnorm") {
    return runRmsNorm(golden);
  }
  expect(golden.param("op")).toBe("rope");
  const positions = golden.integers("positions");
  const theta = golden.number("theta");
  const dims = golden.number("rotary_dim");
  const inverse = golden.flag("inverse");
  const options: RopeOptions = {
    layout: golden.param("layout") === "half-split" ? "half" : "interleaved",
    theta,
    dims,
    inverse,
    positions,
  };
  const x = golden.tensor("x");
  const y = rope(x, options);
  golden.compare("y", y);
  const start = golden.param("start") as number | undefined;
  if (start !== undefined) {
    expectSameBits(rope(x, { ...options, positions: start }), y);
  }
  const { cos, sin } = ropeTable({ positions, dims, theta });
  golden.compare("cos", cos);
  // The file has what was multiplied with.
  golden.compare("sin", inverse ? { data: numbers(sin).map((value) => -value), shape: sin.shape } : sin);
}

function runRmsNorm(golden: GoldenRun): void {
  const y = rmsNorm(golden.tensor("x"), {
    weight: golden.flag("weight") ? golden.tensor("weight") : undefined,
    eps: golden.number("eps"),
    unitOffset: golden.flag("unit_offset"),
  });
  golden.compare("y", y);
}

export function runVariant(golden: GoldenRun): void {
  switch (golden.param("op")) {
    case "additive":
      return runAdditive(golden);
    case "linear":
      return runLinear(golden);
    default:
      return runAttentionOptions(golden);
  }
}

/** Windows, softcap, ALiBi and sinks, all of them options of attention. */
function runAttentionOptions(golden: GoldenRun): void {
  expect(["sliding_window", "softcap", "alibi", "sinks"]).toContain(golden.param("op"));
  const [q, k, v] = [golden.tensor("q"), golden.tensor("k"), golden.tensor("v")];
  const windowLeft = golden.param("window_left") as number | undefined;
  const options = {
    causal: golden.flag("causal") ? ("bottom-right" as const) : false,
    align: "bottom-right" as const,
    window: windowLeft === undefined ? undefined : { left: windowLeft },
    softcap: golden.param("softcap") as number | undefined,
    alibiSlopes: golden.has("slopes") ? golden.tensor("slopes") : undefined,
    sinks: golden.has("sinks") ? golden.tensor("sinks") : undefined,
    mask: golden.has("mask") ? golden.mask("mask") : undefined,
  };
  const { output, weights } = scaledDotProductAttention(q, k, v, { ...options, needWeights: true });
  golden.compare("output", output);
  golden.compare("weights", weights as Tensor);
  expectSameBits(scaledDotProductAttention(q, k, v, options).output, output);
  golden.compare("output", step(scaledDotProductAttention.trace(q, k, v, options), "output"));
  // A window of W is W keys, the query's own included, and nothing after it.
  const width = golden.param("window") as number | undefined;
  if (width !== undefined) {
    expectSameBits(scaledDotProductAttention(q, k, v, { ...options, window: width }).output, output);
  }
}

function runAdditive(golden: GoldenRun): void {
  const [query, key, value] = [golden.tensor("query"), golden.tensor("key"), golden.tensor("value")];
  const options = {
    W: golden.tensor("W"),
    U: golden.tensor("U"),
    v: golden.tensor("v"),
    b: golden.has("b") ? golden.tensor("b") : undefined,
  };
  const { output, weights } = additiveAttention(query, key, value, { ...options, needWeights: true });
  golden.compare("output", output);
  golden.compare("weights", weights as Tensor);
  const trace = additiveAttention.trace(query, key, value, options);
  golden.compare("scores", step(trace, "scores"));
  expectSameBits(step(trace, "output"), output);
  expectSameBits(additiveAttention(query, key, value, options).output, output);
}

function runLinear(golden: GoldenRun): void {
  expect(golden.param("feature_map")).toBe("elu+1");
  const { output } = linearAttention(golden.tensor("q"), golden.tensor("k"), golden.tensor("v"), {
    causal: golden.flag("causal"),
    eps: golden.number("eps"),
    keyMask: golden.has("mask") ? (golden.mask("mask") as MaskLike) : undefined,
  });
  golden.compare("output", output);
}

export function runMiniMind(golden: GoldenRun): void {
  if (golden.name === "yarn_hd96") {
    return runYarn(golden);
  }
  const x = golden.tensor("x");
  const [batch, length] = x.shape as [number, number];
  const numKvHeads = golden.number("num_key_value_heads");
  const headDim = golden.number("head_dim");
  const theta = golden.number("rope_theta");
  const startPosition = golden.number("start_pos");
  expect(golden.param("rope")).toBe("half-split");
  const attention = new GroupedQueryAttention({
    hiddenSize: golden.number("hidden_size"),
    numHeads: golden.number("num_attention_heads"),
    numKvHeads,
    headDim,
    qkNorm: { eps: golden.number("rms_norm_eps") },
    rope: { layout: "half", theta },
  });
  const cache = new KVCache({ batch, numKvHeads, headDim, capacity: length });
  try {
    const names = ["q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm"].map(
      (name) => `${name}.weight`,
    );
    attention.loadStateDict(Object.fromEntries(names.map((name) => [name, golden.tensor(name)])));

    const steps = golden.param("steps") as number[];
    let first = 0;
    steps.forEach((count, index) => {
      const options = {
        causal: golden.flag("is_causal"),
        keyMask: golden.has("attention_mask") ? paddingBias(golden, first + count) : undefined,
        // counted on from the cache, but for the case that starts elsewhere
        positions: startPosition === 0 ? undefined : startPosition,
      };
      const tokens = tokensOf(x, first, count);
      const prefix = steps.length > 1 ? `step${index}.` : "";
      if (first === 0) {
        // without a cache the first chunk is the same to the bit
        const trace = attention.trace(tokens, options);
        expectSameBits(attention.forward(tokens, { ...options, fast: false }).output, step(trace, "output"));
        golden.compare(`${prefix}output`, step(trace, "output"));
        golden.compare(`${prefix}output`, attention.forward(tokens, options).output);
      }
      const trace = attention.trace(tokens, { ...options, cache });
      for (const { id, tensor } of trace.steps) {
        const name = prefix + (presentNames[id] ?? id);
        if (golden.expects(name)) {
          golden.compare(name, tensor);
        }
      }
      first += count;
    });
    expect(cache.lengths).toEqual(Array.from({ length: batch }, () => length));
    if (golden.expects("cos")) {
      const positions = Array.from({ length }, (_, i) => startPosition + i);
      const { cos, sin } = ropeTable({ positions, dims: headDim, theta });
      golden.compare("cos", twice(cos));
      golden.compare("sin", twice(sin));
    }
  } finally {
    attention.dispose();
    cache.dispose();
  }
}

const presentNames: Readonly<Record<string, string>> = { past_k: "present_k", past_v: "present_v" };

/** Tokens first … first + count − 1 of [B, n, D]. */
function tokensOf({ data, shape }: Tensor, first: number, count: number): Tensor {
  const [batch, length, width] = shape as [number, number, number];
  const rows = Array.from({ length: batch }, (_, b) => [
    ...data.slice((b * length + first) * width, (b * length + first + count) * width),
  ]);
  return flat(rows.flat(), batch, count, width);
}

/** The class adds −1e9 where the mask is 0. */
function paddingBias(golden: GoldenRun, keys: number): Tensor {
  const { data, shape } = golden.integers("attention_mask");
  const [batch, length] = shape as [number, number];
  const rows = Array.from({ length: batch }, (_, b) => [...data.slice(b * length, b * length + keys)]);
  return flat(
    rows.flat().map((real) => (real === 1 ? 0 : -1e9)),
    batch,
    keys,
  );
}

/** MiniMind's rotary tables, which hold each half twice. */
function runYarn(golden: GoldenRun): void {
  const { cos, sin, inverseFrequencies } = ropeTable({
    positions: golden.integers("positions"),
    dims: golden.number("head_dim"),
    theta: golden.number("rope_theta"),
    scaling: {
      type: golden.param("type") as "yarn",
      factor: golden.number("factor"),
      originalMaxPositions: golden.number("original_max_position_embeddings"),
      betaFast: golden.number("beta_fast"),
      betaSlow: golden.number("beta_slow"),
      attentionFactor: golden.number("attention_factor"),
    },
  });
  golden.compare("inv_freq", inverseFrequencies);
  golden.compare("cos", twice(cos));
  golden.compare("sin", twice(sin));
}

function twice({ data, shape }: Tensor): Tensor {
  const [n, half] = shape as [number, number];
  const rows = Array.from({ length: n }, (_, row) => [...data.slice(row * half, (row + 1) * half)]);
  return flat(
    rows.flatMap((row) => [...row, ...row]),
    n,
    2 * half,
  );
}
