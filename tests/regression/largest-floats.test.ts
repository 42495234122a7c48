// A mean of the largest floats rounded to Infinity: weights of 1/7 in float32 sum to a little more than 1.

import { expect, test } from "vitest";
import { GroupedQueryAttention, additiveAttention, linearAttention, rmsNorm, rope, zeros } from "softlookup";
import { Attention } from "softlookup/onnx";
import { expectEverywhere } from "../js/paths.js";
import {
  expectClose,
  expectTensor,
  flat,
  identityState,
  leavesNothingAlive,
  withMultiHead,
} from "../js/support.js";

leavesNothingAlive();

const largest = 2 ** 128 - 2 ** 104;
const rounding = { abs: 0, rel: 1e-6 };
const keys = Array.from({ length: 40 }, (_, n) => n + 1);

test.each([largest, -largest])("a mean of %d", (value) => {
  for (const S of keys) {
    const v = Array<number>(S).fill(value);
    const [q, k] = [zeros([1, 1]), zeros([S, 1])];
    expectEverywhere({ q: [0], k: Array<number>(S).fill(0), v }, [value], { tolerance: rounding });
    const parameters = { W: [[1]], U: [[1]], v: [1] };
    expectClose(additiveAttention(q, k, flat(v, S, 1), parameters).output.data, [value], rounding);
    expectClose(linearAttention(q, k, flat(v, S, 1)).output.data, [value], rounding);
    const four = { Q: zeros([1, 1, 1, 1]), K: zeros([1, 1, S, 1]), V: flat(v, 1, 1, S, 1) };
    expectClose(Attention(four).Y.data, [value], rounding);
  }
});

test("what is infinite among the visible values stays so", () => {
  const exact = { tolerance: { abs: 0, rel: 0 } };
  const lookup = { q: [0], k: [0, 0] };
  expectEverywhere({ ...lookup, v: [Infinity, 1] }, [Infinity], exact);
  expectEverywhere({ ...lookup, v: [1, -Infinity] }, [-Infinity], exact);
  expectEverywhere({ ...lookup, v: [Infinity, -Infinity] }, [NaN], exact);
  expectEverywhere({ ...lookup, v: [largest, Infinity], mask: [true, false] }, [largest], exact);
});

test("projections beyond float32 are the largest float", () => {
  const state = { ...identityState(1), "out_proj.weight": [[1e30]] };
  withMultiHead({ embedDim: 1, numHeads: 1, bias: false }, state, (attention) => {
    const forward = (value: number) => attention.forward([[0]], [[0]], [[value]]).output;
    expectTensor(forward(1e30), [1, 1], [largest]);
    expectTensor(forward(-1e30), [1, 1], [-largest]);
    expectTensor(forward(Infinity), [1, 1], [Infinity]);
  });
  using attention = new GroupedQueryAttention({ hiddenSize: 1, numHeads: 1 });
  attention.loadStateDict({
    "q_proj.weight": [[1]],
    "k_proj.weight": [[1]],
    "v_proj.weight": [[1e30]],
    "o_proj.weight": [[1]],
  });
  expectTensor(attention.forward([[1e30]]).output, [1, 1], [largest]);
});

test("a rotation and a norm, too", () => {
  const { data } = rope([[largest, largest]], { layout: "half", positions: 1 });
  expect(data[1]).toBe(largest); // cos 1 + sin 1 = 1.38
  expectClose(data.slice(0, 1), [largest * (Math.cos(1) - Math.sin(1))], rounding);
  expectTensor(rope([[Infinity, 1]], { layout: "half", positions: 1 }), [1, 2], [Infinity, Infinity]);
  expectTensor(rmsNorm([3, 0, 0], { weight: [largest, 1, 1], eps: 0 }), [3], [largest, 0, 0]);
});
