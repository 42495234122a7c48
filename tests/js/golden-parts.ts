// The golden cases of rotary embedding, norm, additive and linear attention.

import { expect } from "vitest";
import {
  additiveAttention,
  linearAttention,
  rmsNorm,
  rope,
  ropeTable,
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
      throw new Error(`no test knows ${golden.name}`);
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

/** MiniMind's rotary tables, which hold each half twice. */
export function runYarn(golden: GoldenRun): void {
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
