import type { Run } from "../../compute/programs/program.ts";
import {
  type Dialect,
  pythonMaskFirst,
  pythonRandom,
  pythonShow,
  pythonSoftmax,
  type Writer,
} from "./dialect.ts";

type MinimindRun = Extract<Run, { kind: "minimind" }>;

const pythonRmsNorm = `def rms_norm(x, weight):
    mean = (x**2).sum(-1)[..., None] / x.shape[-1]
    return x / (mean + eps) ** 0.5 * weight`;

const pythonRope = ({
  lib,
  join,
  axis,
}: Dialect) => `def rope(x, start):  # [B, n, heads, E]: feature i turns with i + E / 2
    half = x.shape[-1] // 2
    angles = ${lib}.arange(start, start + x.shape[1])[:, None] * theta ** (-${lib}.arange(half) / half)
    cos, sin = ${lib}.cos(angles)[:, None], ${lib}.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return ${join}([a * cos - b * sin, b * cos + a * sin], ${axis(-1)})`;

const pythonForward = (dialect: Dialect) => {
  const { lib, join, axis, repeat, triangle } = dialect;
  return `def forward(x, past_kv=None, keep=None):
    B, n, _ = x.shape
    past = 0 if past_kv is None else past_kv[0].shape[1]
    xq, xk, xv = x @ q_proj.T, x @ k_proj.T, x @ v_proj.T
    show("q_proj", xq)
    show("k_proj", xk)
    show("v_proj", xv)
    xq, xk, xv = (rows.reshape(B, n, -1, head_dim) for rows in (xq, xk, xv))
    show("xq", xq)
    show("xk", xk)
    show("xv", xv)
    xq, xk = rms_norm(xq, q_norm), rms_norm(xk, k_norm)
    show("q_norm", xq)
    show("k_norm", xk)
    xq, xk = rope(xq, past), rope(xk, past)
    show("q_rope", xq)
    show("k_rope", xk)
    if past_kv is not None:
        xk, xv = ${join}([past_kv[0], xk], ${axis(1)}), ${join}([past_kv[1], xv], ${axis(1)})
    past_kv = xk, xv
    show("past_k", xk)
    show("past_v", xv)
    xk, xv = (${repeat("rows", "heads // kv_heads", 2)} for rows in (xk, xv))
    show("xk_repeat", xk)
    show("xv_repeat", xv)
    xq, xk, xv = (rows.swapaxes(1, 2) for rows in (xq, xk, xv))  # [B, heads, n, E]
    qk = xq @ xk.swapaxes(2, 3)
    show("qk", qk)
    scores = qk / head_dim**0.5
    show("scores", scores)
    mask = ${lib}.tril(${triangle}, past)
    if keep is not None:
        mask = mask & keep[:, None, None]  # [B, 1, n, n]
    weights = mask_then_softmax(scores, mask)
    head_out = weights @ xv
    show("head_out", head_out)
    merged = head_out.swapaxes(1, 2).reshape(B, n, -1)
    show("merged", merged)
    output = merged @ o_proj.T
    show("output", output)
    return output, past_kv`;
};

/** The parameters, each drawn from a seed of its own. */
const pythonParameters = `head_dim = hidden // heads
q_proj = random_normal(seed + 1, heads * head_dim, hidden) / hidden**0.5
k_proj = random_normal(seed + 2, kv_heads * head_dim, hidden) / hidden**0.5
v_proj = random_normal(seed + 3, kv_heads * head_dim, hidden) / hidden**0.5
o_proj = random_normal(seed + 4, hidden, heads * head_dim) / (heads * head_dim) ** 0.5
q_norm = 1 + random_normal(seed + 5, head_dim) / 10
k_norm = 1 + random_normal(seed + 6, head_dim) / 10

x = random_normal(seed, batch, n, hidden)`;

const javaScriptLayer = `const layer = new GroupedQueryAttention({
  hiddenSize: hidden,
  numHeads: heads,
  numKvHeads: kv_heads,
  qkNorm: { eps },
  rope: { layout: "half", theta },
});
const { headDim } = layer;

/** Drawn, over √width. */
function drawn(seed, rows, width) {
  const { data, shape } = randomNormal([rows, width], seed);
  return { data: data.map((value) => value * Math.fround(width ** -0.5)), shape };
}

/** 1 and a tenth of a drawn number. */
function drawnNorm(seed) {
  const { data, shape } = randomNormal([headDim], seed);
  return { data: data.map((value) => 1 + Math.fround(value * Math.fround(0.1))), shape };
}

layer.loadStateDict({
  "q_proj.weight": drawn(seed + 1, heads * headDim, hidden),
  "k_proj.weight": drawn(seed + 2, kv_heads * headDim, hidden),
  "v_proj.weight": drawn(seed + 3, kv_heads * headDim, hidden),
  "o_proj.weight": drawn(seed + 4, hidden, heads * headDim),
  "q_norm.weight": drawnNorm(seed + 5),
  "k_norm.weight": drawnNorm(seed + 6),
});

const x = randomNormal([batch, n, hidden], seed);`;

const javaScriptCached = `
/** Tokens of every sequence. */
function tokens(from, to) {
  const rows = Array.from({ length: batch }, (_, b) => [
    ...x.data.slice((b * n + from) * hidden, (b * n + to) * hidden),
  ]);
  return { data: Float32Array.from(rows.flat()), shape: [batch, to - from, hidden] };
}

const cache = new KVCache({ batch, numKvHeads: kv_heads, headDim, capacity: n });
show(layer.trace(tokens(0, past), { cache }).steps);
show(layer.trace(tokens(past, n), { cache }).steps);
show(layer.trace(x).steps); // all at once
cache.dispose();`;

export const minimindWriter: Writer<MinimindRun> = {
  helpers: (_, dialect) => [
    pythonRandom(dialect),
    pythonShow,
    pythonSoftmax(dialect),
    pythonMaskFirst(dialect),
    pythonRmsNorm,
    pythonRope(dialect),
    pythonForward(dialect),
  ],
  python({ edits, padded, cached }) {
    const typed = edits.map(
      ({ row, col, value }) => `x[0, ${String(row)}, ${String(col)}] = ${String(value)}`,
    );
    const calls = cached
      ? `_, past_kv = forward(x[:, :past])
forward(x[:, past:], past_kv)
forward(x)  # all at once`
      : padded
        ? "forward(x, keep=keep)"
        : "forward(x)";
    return [pythonParameters, ...typed, "", calls].join("\n");
  },
  javaScript({ edits, padded, cached }) {
    const typed = edits.map(
      ({ row, col, value }) => `x.data[${String(row)} * hidden + ${String(col)}] = ${String(value)};`,
    );
    const calls = cached
      ? javaScriptCached
      : `show(layer.trace(x${padded ? ", { keyMask: keep }" : ""}).steps);`;
    return [javaScriptLayer, ...typed, "", calls, "layer.dispose();"].join("\n");
  },
};
