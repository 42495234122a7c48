// Where WebAssembly.Memory had been replaced by a class of somebody's own, no instance could be loaded.

import { expect, test } from "vitest";
import { load } from "softlookup/load";

test("loads while WebAssembly.Memory is another class", async () => {
  const { Memory } = WebAssembly;
  WebAssembly.Memory = class extends Memory {};
  try {
    const { softmax, scaledDotProductAttention } = await load();
    const one = { data: Float32Array.of(3), shape: [1, 1] };
    expect([...softmax(one).data]).toEqual([1]);
    expect([...scaledDotProductAttention(one, one, one).output.data]).toEqual([3]);
  } finally {
    WebAssembly.Memory = Memory;
  }
});
