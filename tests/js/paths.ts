// The same lookup on every path through the package that can express it.

import { expect } from "vitest";
import {
  GroupedQueryAttention,
  KVCache,
  boolTensor,
  scaledDotProductAttention,
  type BoolTensor,
  type Causal,
  type MaskLike,
  type Tensor,
} from "softlookup";
import { Attention } from "softlookup/onnx";
import * as torch from "softlookup/torch";
import {
  at,
  byHand,
  expectClose,
  expectSameBits,
  flat,
  identityState,
  step,
  tokensOf,
  withMultiHead,
  type Tolerance,
} from "./support.js";

/** One head of head dim 1, so that the scale is 1 and a query, a key and a value are one number each. */
export interface Lookup {
  q: readonly number[];
  k: readonly number[];
  v: readonly number[];
  /** Broadcasts to [L, S]. */
  mask?: MaskLike;
  causal?: Causal;
}

export interface Answer {
  path: string;
  /** [L, 1] */
  output: Tensor;
  /** [L, S] */
  weights?: Tensor;
}

export function everyPath({ q, k, v, mask, causal }: Lookup): Answer[] {
  const options = { mask, causal };
  const [L, S] = [q.length, k.length];
  const column = (data: readonly number[], ...leading: number[]) => flat(data, ...leading, data.length, 1);
  const [query, key, value] = [column(q), column(k), column(v)];

  const plain = scaledDotProductAttention(query, key, value, options);
  expect(plain.weights).toBeUndefined();
  const weighted = scaledDotProductAttention(query, key, value, { ...options, needWeights: true });
  const trace = scaledDotProductAttention.trace(query, key, value, options);
  const four = scaledDotProductAttention(column(q, 1, 1), column(k, 1, 1), column(v, 1, 1), options);

  // The last batch entry of three and the last head of two, among others that hold other numbers.
  const among = (data: readonly number[]) =>
    flat(
      [...Array(5).keys()].flatMap((other) => data.map((_, i) => other - i)).concat(data),
      3,
      2,
      data.length,
      1,
    );
  const batched = scaledDotProductAttention(among(q), among(k), among(v), { ...options, needWeights: true });
  const last = (tensor: Tensor) => at(at(tensor, 2), 1);

  // Four query heads over two key/value heads, of which the second holds the keys.
  const besideOther = (data: readonly number[]) =>
    flat([...data.map((_, i) => i - 1), ...data], 2, data.length, 1);
  const grouped = scaledDotProductAttention(
    flat([...q, ...q, ...q, ...q], 4, L, 1),
    besideOther(k),
    besideOther(v),
    {
      ...options,
      needWeights: true,
    },
  );

  const answers: Answer[] = [
    { path: "plain", output: plain.output },
    { path: "with weights", output: weighted.output, weights: weighted.weights as Tensor },
    { path: "trace", output: step(trace, "output"), weights: step(trace, "weights") },
    { path: "four axes", output: at(at(four.output, 0), 0) },
    { path: "batched", output: last(batched.output), weights: last(batched.weights as Tensor) },
    ...[2, 3].map((head) => ({
      path: `grouped, head ${head}`,
      output: at(grouped.output, head),
      weights: at(grouped.weights as Tensor, head),
    })),
    ...multiHeadPaths(query, key, value, options),
    ...torchPaths(query, key, value, options),
    ...onnxPaths(query, key, value, options),
    ...cachePaths(query, key, value, options),
    ...groupedQueryPaths({ q, k, v, ...options }),
  ];
  for (const { path, output, weights } of answers) {
    expect(output.shape, path).toEqual([L, 1]);
    expect(weights?.shape ?? [L, S], path).toEqual([L, S]);
  }
  return answers;
}

interface Options {
  mask: MaskLike | undefined;
  causal: Causal | undefined;
}

function multiHeadPaths(query: Tensor, key: Tensor, value: Tensor, options: Options): Answer[] {
  return withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, identityState(1), (attention) => {
    const plain = attention.forward(query, key, value, options);
    expect(plain.weights).toBeUndefined();
    const weighted = attention.forward(query, key, value, { ...options, needWeights: true });
    const trace = attention.trace(query, key, value, options);
    const batchOfOne = ({ data, shape }: Tensor): Tensor => ({ data, shape: [1, ...shape] });
    const perHead = attention.forward(batchOfOne(query), batchOfOne(key), batchOfOne(value), {
      ...options,
      needWeights: true,
      averageWeights: false,
    });
    return [
      { path: "multi-head", output: plain.output },
      { path: "multi-head with weights", output: weighted.output, weights: weighted.weights as Tensor },
      { path: "multi-head trace", output: step(trace, "output"), weights: at(step(trace, "weights"), 0) },
      {
        path: "multi-head, weights per head",
        output: at(perHead.output, 0),
        weights: at(at(perHead.weights as Tensor, 0), 0),
      },
    ];
  });
}

/** Query i sees keys 0 … i, as torch has it, and no mask beside that. */
function torchPaths(query: Tensor, key: Tensor, value: Tensor, { mask, causal }: Options): Answer[] {
  const [L, S] = [query.shape[0], key.shape[0]];
  if ((causal && mask !== undefined) || (causal === "bottom-right" && L !== S)) {
    return [];
  }
  const options = { attnMask: mask, isCausal: Boolean(causal) };
  return [{ path: "torch", output: torch.scaledDotProductAttention(query, key, value, options) }];
}

/**
 * How many keys are of the past, where the others come together with the queries, one for each: a diagonal that
 * begins elsewhere cannot be had.
 */
function pastOf(L: number, S: number, causal: Causal | undefined): number | undefined {
  return L > S || (causal === "top-left" && L < S) ? undefined : S - L;
}

const fourAxes = ({ data, shape }: Tensor): Tensor => ({ data, shape: [1, 1, ...shape] });

function onnxPaths(query: Tensor, key: Tensor, value: Tensor, { mask, causal }: Options): Answer[] {
  const [L, S] = [query.shape[0] as number, key.shape[0] as number];
  const past = causal === "top-left" ? 0 : pastOf(L, S, causal);
  const shape = mask === undefined ? [S] : heldMask(mask).shape;
  if (past === undefined || shape.at(-1) !== S) {
    return []; // an axis of 1 is not repeated along the keys
  }
  const [Q, K, V] = [query, key, value].map(fourAxes) as [Tensor, Tensor, Tensor];
  const { Y, qk_matmul_output: weights } = Attention(
    {
      Q,
      K: tokensOf(K, past, S),
      V: tokensOf(V, past, S),
      attn_mask: mask,
      past_key: tokensOf(K, 0, past),
      past_value: tokensOf(V, 0, past),
    },
    { is_causal: Boolean(causal), qk_matmul_output_mode: 3 },
  );
  const apart = (tensor: Tensor) => at(at(tensor, 0), 0);
  return [{ path: "ONNX", output: apart(Y), weights: apart(weights as Tensor) }];
}

function cachePaths(query: Tensor, key: Tensor, value: Tensor, { mask, causal }: Options): Answer[] {
  const [L, S] = [query.shape[0] as number, key.shape[0] as number];
  const past = pastOf(L, S, causal);
  if (past === undefined) {
    return [];
  }
  const [q, k, v] = [query, key, value].map(fourAxes) as [Tensor, Tensor, Tensor];
  return [false, true].map((needWeights) => {
    using cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: S + 1 });
    cache.append(tokensOf(k, 0, past), tokensOf(v, 0, past));
    const options = { mask, causal: Boolean(causal), cache, needWeights };
    const { output, weights } = scaledDotProductAttention(
      q,
      tokensOf(k, past, S),
      tokensOf(v, past, S),
      options,
    );
    const answer = { path: needWeights ? "cached with weights" : "cached", output: at(at(output, 0), 0) };
    return weights ? { ...answer, weights: at(at(weights, 0), 0) } : answer;
  });
}

/** Tokens (q, k, v), of which each projection takes one: only numbers that 0 can hide. */
function groupedQueryPaths({ q, k, v, mask, causal }: Omit<Lookup, keyof Options> & Options): Answer[] {
  const [L, S] = [q.length, k.length];
  const past = pastOf(L, S, causal);
  const held = mask === undefined ? undefined : heldMask(mask);
  const isKeyMask = held === undefined || (held.shape.length === 1 && held.shape[0] === S);
  if (past === undefined || !isKeyMask || ![...q, ...k, ...v].every(Number.isFinite)) {
    return [];
  }
  const tokens = flat(
    k.flatMap((key, j) => [j < past ? 0 : (q[j - past] as number), key, v[j] as number]),
    S,
    3,
  );
  using layer = new GroupedQueryAttention({ hiddenSize: 3, numHeads: 1, headDim: 1 });
  layer.loadStateDict({
    "q_proj.weight": [[1, 0, 0]],
    "k_proj.weight": [[0, 1, 0]],
    "v_proj.weight": [[0, 0, 1]],
    "o_proj.weight": [[1], [0], [0]],
  });
  const options = { causal: Boolean(causal), keyMask: held };
  const first = ({ data }: Tensor) =>
    flat(
      data.filter((_, i) => i % 3 === 0),
      L,
      1,
    );
  const answer = (path: string, x: Tensor, more: object): Answer => {
    const { output, weights } = layer.forward(x, { ...options, needWeights: true, ...more });
    return { path, output: first(output), weights: at(weights as Tensor, 0) };
  };
  using cache = new KVCache({ batch: 1, numKvHeads: 1, headDim: 1, capacity: S + 1 });
  layer.forward(tokensOf(tokens, 0, past), { cache });
  const answers = [answer("grouped-query, cached", tokensOf(tokens, past, S), { cache })];
  if (past === 0) {
    const trace = layer.trace(tokens, options);
    answers.push(answer("grouped-query", tokens, {}), {
      path: "grouped-query trace",
      output: first(step(trace, "output")),
      weights: at(step(trace, "weights"), 0),
    });
  }
  return answers;
}

/** A mask as an object with data and shape. */
function heldMask(mask: MaskLike): BoolTensor | Tensor {
  if (typeof mask === "boolean" || Array.isArray(mask)) {
    return boolTensor(mask as boolean[]);
  }
  const held = ArrayBuffer.isView(mask) ? { data: mask, shape: [mask.length] } : mask;
  return held as BoolTensor | Tensor;
}

/** Output (and weights) on every path; asking for the weights changes no bit. */
export function expectEverywhere(
  lookup: Lookup,
  output: readonly number[],
  { weights, tolerance = byHand }: { weights?: readonly number[]; tolerance?: Tolerance } = {},
): void {
  const answers = everyPath(lookup);
  for (const answer of answers) {
    expectClose(answer.output.data, output, tolerance, `output, ${answer.path}`);
    if (answer.weights !== undefined && weights !== undefined) {
      expectClose(answer.weights.data, weights, tolerance, `weights, ${answer.path}`);
    }
  }
  const named = (path: string) => (answers.find((answer) => answer.path === path) as Answer).output;
  expectSameBits(named("with weights"), named("plain"));
  expectSameBits(named("multi-head with weights"), named("multi-head"));
}
