import type { CountsRun, Run } from "../../compute/programs/program.ts";
import { type Dialect, list, pythonCounts, pythonShow, type Writer } from "./dialect.ts";

type Of<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

/** A table of counts, a line for each size, whose numbers go by the names of `size`. */
function countsWriter<Kind extends string>(
  size: string,
  python: string | ((dialect: Dialect) => string),
  javaScript: string,
): Writer<CountsRun<Kind>> {
  return {
    helpers: () => [pythonCounts],
    python({ kind, sizes }, dialect) {
      const text = typeof python === "string" ? python : python(dialect);
      return `rows = []
for ${size} in ${list(sizes)}:
    ${text.replaceAll("\n", "\n    ")}
show("${kind}", rows)`;
    },
    javaScript: ({ kind, sizes }) => `console.log("${kind}");
for (const ${size.includes(",") ? `[${size}]` : size} of ${list(sizes)}) {
  ${javaScript.replaceAll("\n", "\n  ")}
}`,
  };
}

export const operationsWriter = countsWriter<"operations">(
  "n",
  `projection = 2 * n * d * d
attention = 2 * n * n * d + 2 * n * n * d  # the scores, and the weighted sum
total = 3 * projection + projection + attention
rows.append([3 * projection, projection, attention, total, attention / total])`,
  `const found = cost.operations({ length: n, modelDim: d });
console.log(found.qkvProjection, found.outputProjection, found.attention, found.total, found.attentionShare);`,
);

export const scoreTableWriter = countsWriter<"scoreTable">(
  "n",
  `numbers = n * n
rows.append([numbers, 2 * numbers, 2 * H * numbers, 4 * H * numbers])  # fp16 takes 2 bytes, fp32 4`,
  `const table = (numHeads, bytesPerElement) =>
  cost.scoresMemory({ length: n, numHeads, batch: 1, bytesPerElement });
console.log(table(1, 2).elements, table(1, 2).bytes, table(H, 2).bytes, table(H, 4).bytes);`,
);

export const matricesWriter = countsWriter<"matrices">(
  "d",
  "rows.append([d * d, 4 * d * d])  # W^Q, W^K, W^V and W^O",
  `const { query, total } = cost.parameters({ modelDim: d, numHeads: 1 });
console.log(query, total);`,
);

export const nextTokenWriter = countsWriter<"nextToken">(
  "n",
  `anew = 8 * n * d * d + 4 * n * n * d
cached = 8 * d * d + 4 * n * d  # one row of each product
rows.append([anew, cached])`,
  `const size = { length: n, modelDim: d };
console.log(cost.operations(size).total, cost.decodeOperations(size).total);`,
);

export const parametersWriter = countsWriter<"parameters">(
  "d, H",
  ({ lib }) => `head_dim = d // H
wq, wk, wv = (${lib}.zeros((H * head_dim, d)) for _ in range(3))
wo = ${lib}.zeros((d, H * head_dim))
counts = [math.prod(matrix.shape) for matrix in (wq, wk, wv, wo)]
rows.append([head_dim, *counts, 4 * d * d, sum(counts)])`,
  `const { query, key, value, output, total } = cost.parameters({ modelDim: d, numHeads: H });
const layer = new MultiHeadAttention({ embedDim: d, numHeads: H, bias: false });
console.log(d / H, query, key, value, output, total, layer.parameterCount);
layer.dispose();`,
);

export const calculatorWriter: Writer<Of<"calculator">> = {
  helpers: () => [pythonCounts],
  python: () => `projections = 8 * d * d  # operations of four products, by token
attention = 4 * n * d
operations = n * (projections + attention)
table = n * n * H * bytes
show("calculator", [
    [d // H],
    [4 * d * d],
    [operations],
    [n * attention / operations],
    [projections + attention],
    [table],
    [table * layers],
    [2 * n * d * layers * bytes],  # keys and values
])`,
  javaScript: () => `const size = { length: n, modelDim: d };
const { total, attentionShare } = cost.operations(size);
const table = (batch) => cost.scoresMemory({ length: n, numHeads: H, batch, bytesPerElement: bytes }).bytes;
const headDim = d / H;
const cache = { length: n, layers, numKvHeads: H, headDim, batch: 1, bytesPerElement: bytes };
console.log("calculator");
for (const row of [
  headDim,
  cost.parameters({ modelDim: d, numHeads: H }).total,
  total,
  attentionShare,
  cost.decodeOperations(size).total,
  table(1),
  table(layers), // as many again as there are layers
  cost.kvCacheMemory(cache).bytes,
])
  console.log(row);`,
};

export const cacheMemoryWriter: Writer<Of<"cacheMemory">> = {
  helpers: () => [pythonCounts],
  python: () => `numbers = 2 * layers * kv_heads * head_dim * n * batch  # keys and values
show("cacheMemory", [[numbers * bytes]])`,
  javaScript: () => `const { bytes: total } = cost.kvCacheMemory({
  length: n,
  layers,
  numKvHeads: kv_heads,
  headDim: head_dim,
  batch,
  bytesPerElement: bytes,
});
console.log("cacheMemory");
console.log(total);`,
};

export const windowWriter: Writer<Of<"window">> = {
  helpers: () => [pythonShow],
  python: (_, { lib, along }) => `query, key = ${lib}.arange(n)[:, None], ${lib}.arange(n)
mask = (key <= query) & (key > query - window)
show("window", mask)
seen = mask.sum(${along})
show("seen", seen)
show("total", seen.sum()[None, None])`,
  javaScript: () => `const mask = masks.window(n, n, window);
const bits = { data: Float32Array.from(mask.data), shape: mask.shape };
const seen = rowSums(bits);
show([
  { id: "window", tensor: bits },
  { id: "seen", tensor: { ...seen, shape: [n, 1] } },
  { id: "total", tensor: rowSums({ data: seen.data, shape: [1, n] }) },
]);`,
};
