// The same lookup on every path through the package that can express it.

import { expect } from "vitest";
import { scaledDotProductAttention, type Causal, type MaskLike, type Tensor } from "softlookup";
import {
  at,
  byHand,
  expectClose,
  expectSameBits,
  flat,
  identityState,
  step,
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
  ];
  for (const { path, output, weights } of answers) {
    expect(output.shape, path).toEqual([L, 1]);
    expect(weights?.shape ?? [L, S], path).toEqual([L, S]);
  }
  return answers;
}

function multiHeadPaths(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  options: { mask: MaskLike | undefined; causal: Causal | undefined },
): Answer[] {
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
