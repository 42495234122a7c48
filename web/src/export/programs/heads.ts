import type { Run } from "../../compute/programs/program.ts";
import { type Dialect, pythonShow, pythonSoftmax, type Writer } from "./dialect.ts";

const pythonHeads = `def split(rows):  # [n, d] to [H, n, d / H]: cut, not copied
    return rows.reshape(rows.shape[0], H, -1).swapaxes(0, 1)


def multi_head(wq, wk, wv, wo):
    query, key, value = x @ wq.T, x @ wk.T, x @ wv.T
    show("query", query)
    show("key", key)
    show("value", value)
    q, k, v = split(query), split(key), split(value)
    show("queryHeads", q)
    show("keyHeads", k)
    show("valueHeads", v)
    scores = q @ k.swapaxes(1, 2)
    show("scores", scores)
    scaled = scores / q.shape[-1] ** 0.5
    show("scaled", scaled)
    weights = softmax(scaled)
    show("weights", weights)
    heads = weights @ v
    show("heads", heads)
    merged = heads.swapaxes(0, 1).reshape(x.shape)
    show("merged", merged)
    output = merged @ wo.T
    show("output", output)
    return scores, heads, output`;

const pythonLoop = ({ lib, join, axis }: Dialect) => `
small = []
for head in range(H):
    part = slice(head * x.shape[1] // H, (head + 1) * x.shape[1] // H)
    q, k, v = x @ wq[part].T, x @ wk[part].T, x @ wv[part].T  # three small matrices
    weights = ${lib}.exp(q @ k.T / q.shape[-1] ** 0.5)
    small.append(weights / weights.sum(${axis(1)})[:, None] @ v)
small = ${join}(small, ${axis(1)}) @ wo.T
show("large", output)
show("small", small)
show("difference", output - small)`;

const pythonBesides = {
  silence: () => `
width = x.shape[1] // H
wv[silent * width : (silent + 1) * width] = 0  # this head has nothing to hand over
multi_head(wq, wk, wv, wo)`,
  loop: pythonLoop,
  view: () => `
show("wrong", heads.reshape(x.shape))  # without swapping the axes first`,
  skew: () => `
show("skew", scores - scores.swapaxes(1, 2))`,
};

const javaScriptLayer = `const layer = new MultiHeadAttention({ embedDim: x[0].length, numHeads: H, bias: false });
layer.loadStateDict({ in_proj_weight: [...wq, ...wk, ...wv], "out_proj.weight": wo });
const { steps } = layer.trace(x, x, x);
show(steps.filter(({ id }) => id !== "masked"));`;

const javaScriptBesides = {
  silence: `
const width = x[0].length / H;
const silenced = wv.map((row, i) => (Math.floor(i / width) === silent ? row.map(() => 0) : row));
layer.loadStateDict({ in_proj_weight: [...wq, ...wk, ...silenced], "out_proj.weight": wo });
show(layer.trace(x, x, x).steps.filter(({ id }) => id !== "masked"));`,
  loop: `
const large = layer.forward(x, x, x).output;
const small = layer.forward(x, x, x, { headByHead: true }).output;
const difference = large.data.map((value, i) => value - small.data[i]);
show([
  { id: "large", tensor: large },
  { id: "small", tensor: small },
  { id: "difference", tensor: { ...large, data: difference } },
]);`,
  view: `
const [heads, merged] = ["heads", "merged"].map((id) => steps.find((step) => step.id === id).tensor);
show([{ id: "wrong", tensor: { ...merged, data: heads.data } }]); // without swapping the axes first`,
  skew: `
const { data, shape } = steps.find(({ id }) => id === "scores").tensor;
const n = x.length;
const skew = data.map((score, i) => score - data[(i % n) * n + Math.floor(i / n)]);
show([{ id: "skew", tensor: { data: skew, shape } }]);`,
};

export const headsWriter: Writer<Extract<Run, { kind: "heads" }>> = {
  helpers: (_, dialect) => [pythonShow, pythonSoftmax(dialect), pythonHeads],
  python: ({ besides }, dialect) =>
    `scores, heads, output = multi_head(wq, wk, wv, wo)${besides ? pythonBesides[besides](dialect) : ""}`,
  javaScript: ({ besides }) =>
    [javaScriptLayer, besides ? javaScriptBesides[besides] : "", "\nlayer.dispose();"].join(""),
};

const pythonShowShape = `def show(name, array):
    print(name)
    print(*array.shape)`;

export const shapesWriter: Writer<Extract<Run, { kind: "shapes" }>> = {
  helpers: () => [pythonShowShape],
  python: (_, { lib }) => `x, w = ${lib}.zeros((B, n, d)), ${lib}.zeros((d, d))
show("x", x)
query = key = value = x @ w.T
show("query", query)
q, k, v = (rows.reshape(B, n, H, d // H).swapaxes(1, 2) for rows in (query, key, value))
show("queryHeads", q)
scores = q @ k.swapaxes(2, 3)
show("scores", scores)
weights = ${lib}.exp(scores) / ${lib}.exp(scores).sum(-1)[..., None]
show("weights", weights)
heads = weights @ v
show("heads", heads)
merged = heads.swapaxes(1, 2).reshape(B, n, d)
show("merged", merged)
output = merged @ w.T
show("output", output)`,
  javaScript:
    () => `const zeros = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)), shape });
const x = zeros(B, n, d);
const layer = new MultiHeadAttention({ embedDim: d, numHeads: H, bias: false });
layer.loadStateDict({ in_proj_weight: zeros(3 * d, d), "out_proj.weight": zeros(d, d) });
const shown = ["query", "queryHeads", "scores", "weights", "heads", "merged", "output"];
const steps = layer.trace(x, x, x).steps.filter(({ id }) => shown.includes(id));
for (const { id, shape } of [{ id: "x", shape: x.shape }, ...steps]) {
  console.log(id);
  console.log(...shape);
}
layer.dispose();`,
};
