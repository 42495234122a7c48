import type { Run } from "../../compute/programs/program.ts";
import { pythonQuietSoftmax, pythonShow, type Dialect, type Writer } from "./dialect.ts";

type Of<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

export const chunkMaskWriter: Writer<Of<"chunkMask">> = {
  helpers: () => [pythonShow],
  python: (_, { lib }) => `past = t // m * m
size = min(m, n - past)
triangle = ${lib}.tril(${lib}.ones((past + size, past + size)))
show("triangle", triangle)
show("mask", triangle[past:])  # lined up with the bottom right
show("misaligned", triangle[:size])  # with the top left: wrong`,
  javaScript: () => `const past = Math.floor(t / m) * m;
const size = Math.min(m, n - past);
show([
  { id: "triangle", tensor: masks.causal(past + size) },
  { id: "mask", tensor: masks.causal(size, past + size, "bottom-right") },
  { id: "misaligned", tensor: masks.causal(size, past + size, "top-left") }, // wrong
]);`,
};

const pythonAttend = ({ lib, hide, triangle }: Dialect) => `def attend(q, k, v):
    n, past = len(q), len(k) - len(q)
    mask = ${lib}.tril(${triangle}, past)
    scores = q @ k.T / q.shape[-1] ** 0.5
    return softmax(${hide}) @ v`;

export const decodeWriter: Writer<Of<"decode">> = {
  helpers: (_, dialect) => [pythonShow, pythonQuietSoftmax(dialect), pythonAttend(dialect)],
  python: (_, { join }) => `whole = attend(q, k, v)
keys, values, rows = k[:0], v[:0], []
for start in range(0, n, m):
    chunk = slice(start, start + m)
    keys, values = ${join}([keys, k[chunk]]), ${join}([values, v[chunk]])  # the cache
    rows.append(attend(q[chunk], keys, values))
through = ${join}(rows)
show("whole", whole)
show("through", through)
show("difference", through - whole)  # at most the rounding of another order of sums`,
  javaScript: () => `const headDim = q.shape[1];
const cache = new KVCache({ batch: 1, numKvHeads: 1, headDim, capacity: n });
const through = [];
for (let start = 0; start < n; start += m) {
  const end = Math.min(start + m, n);
  const chunk = [q, k, v].map(({ data }) => ({
    data: data.slice(start * headDim, end * headDim),
    shape: [1, 1, end - start, headDim],
  }));
  through.push(...scaledDotProductAttention(...chunk, { causal: true, cache }).output.data);
}
cache.dispose();
const whole = scaledDotProductAttention(q, k, v, { causal: true }).output;
show([
  { id: "whole", tensor: whole },
  { id: "through", tensor: { ...whole, data: through } },
  { id: "difference", tensor: { ...whole, data: through.map((value, i) => value - whole.data[i]) } },
]);`,
};
