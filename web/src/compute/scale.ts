import {
  dotProductMoments,
  MultiHeadAttention,
  randomNormal,
  rowEntropies,
  scaledDotProductAttention,
  softmax,
} from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import { scaleTerms } from "../content/scale.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { keyCounts, type Tie, ties, widths } from "../state/fields/scale.ts";
import type { Inputs } from "../state/inputs.ts";
import type { Spread } from "../jobs/dot-products.ts";
import type { Saturation, Sharpness } from "../jobs/saturation.ts";
import { type Control, seedControl } from "./controls.ts";
import { equals, minus, number, productSum, share, text, words } from "./explain.ts";
import {
  at,
  type Figure,
  firstCell,
  type Grid,
  indices,
  numerals,
  passes,
  symbols,
  transposed,
} from "./figure.ts";
import { difference, withLayer } from "./layers.ts";
import { keys, outputExplanation, outputs, queries, weightsGrid } from "./passes.ts";
import type { Plot } from "./plot.ts";
import { type Change, typedGrid } from "./typed.ts";

/** Draws at each width, pairs that are sampled for the variance, and queries for the entropy. */
export const draws = 8;
export const samples = 4096;
export const sampledQueries = 256;

/** No more products than this are written out. */
const longest = 8;

export const seedOf = ({ seed }: Inputs, offset: number) => seed * 2 + offset;

/** q and k of `count` pairs [count, 1, dim], and their dot products. */
function pairs(dim: number, inputs: Inputs) {
  const draw = (offset: number) => randomNormal([draws, 1, dim], seedOf(inputs, offset));
  const [q, k] = [draw(0), draw(1)];
  return { q: q.data, k: k.data, dots: passes(scaledDotProductAttention.trace(q, k, k)).scores };
}

function drawsFigure(inputs: Inputs): Figure {
  const drawn = widths.map((dim) => pairs(dim, inputs));
  const data = drawn.flatMap(({ dots }) => [...dots]);
  const dots: Grid = {
    id: "draws",
    label: scaleTerms.entryDots,
    data,
    rows: widths.map((dim) => ({ name: String(dim) })),
    cols: numerals(draws),
    role: "plain",
    scale: "signed",
    explain(row, col) {
      const exact = at(data, draws, row, col);
      const { q, k } = drawn[row] ?? { q: [], k: [] };
      const dim = widths[row] ?? 1;
      const terms = productSum(
        indices(Math.min(dim, longest)).map((e) => [
          { value: at(q, dim, col, e), role: "query" },
          { value: at(k, dim, col, e), role: "key" },
        ]),
      );
      const rest = dim > longest ? [text(" + … "), words(scaleTerms.products, { count: dim })] : [];
      return { segments: [...terms, ...rest, ...equals(exact)], exact, lights: [{ grid: "deviation", row }] };
    },
  };
  const theory = widths.map((dim) => dotProductMoments(dim, samples));
  const deviation: Grid = {
    id: "deviation",
    label: scaleTerms.deviation,
    data: theory.map(({ standardDeviation }) => standardDeviation),
    rows: dots.rows,
    cols: [{ name: "σ" }],
    role: "plain",
    scale: "none",
    explain(row) {
      const exact = theory[row]?.standardDeviation ?? NaN;
      return {
        segments: [text("√"), number(widths[row] ?? NaN), ...equals(exact)],
        exact,
        lights: [{ grid: "draws", row }],
      };
    },
  };
  return { layout: "flow", grids: [dots, deviation], start: { grid: "draws", row: 2, col: 0 } };
}

function saturationFigure(inputs: Inputs): Figure {
  const { width, keyCount } = inputs;
  const q = randomNormal([1, width], seedOf(inputs, 0));
  const k = randomNormal([keyCount, width], seedOf(inputs, 1));
  const rows = queries(1);
  const cols = keys(keyCount);

  const side = (name: "Scaled" | "Raw", scale?: number): readonly Grid[] => {
    const pass = passes(scaledDotProductAttention.trace(q, k, k, { scale }));
    const row = { data: pass.weights, shape: [1, keyCount] };
    const most = passes(softmax.trace(row)).rowMax;
    const entropy = rowEntropies(row).data;
    const names = {
      Scaled: { scores: scaleTerms.scaledScores, weights: scaleTerms.scaledWeights },
      Raw: { scores: scaleTerms.rawScores, weights: scaleTerms.rawWeights },
    }[name];
    const scores: Grid = {
      id: `scores${name}`,
      label: names.scores,
      data: pass.scaled,
      rows,
      cols,
      role: "plain",
      scale: "signed",
      explain(_, col) {
        const exact = pass.scaled[col] ?? NaN;
        const dot = number(pass.scores[col] ?? NaN);
        return {
          segments:
            scale === 1
              ? [words(scaleTerms.products, { count: width }), ...equals(exact)]
              : [dot, text(" ÷ √"), number(width), ...equals(exact)],
          exact,
          lights: [],
        };
      },
    };
    const weights: Grid = {
      id: `weights${name}`,
      label: names.weights,
      data: pass.weights,
      rows,
      cols,
      role: "weight",
      scale: "weights",
      explain(_, col) {
        const exact = pass.weights[col] ?? NaN;
        return {
          segments: share(pass.scaled[col] ?? NaN, pass.rowMax[0] ?? NaN, pass.rowSum[0] ?? NaN, exact),
          exact,
          lights: [{ grid: scores.id, col }],
        };
      },
    };
    const single = (id: string, label: Text, data: ArrayLike<number>, note: Text): Grid => ({
      id: `${id}${name}`,
      label,
      data,
      rows,
      cols: [{ name: "" }],
      role: "plain",
      scale: "none",
      explain: () => ({
        segments: [words(note), ...equals(data[0] ?? NaN)],
        exact: data[0] ?? NaN,
        lights: [{ grid: weights.id }],
      }),
    });
    return [
      scores,
      weights,
      single("largest", scaleTerms.largest, most, scaleTerms.largestNote),
      single("entropy", scaleTerms.entropy, entropy, scaleTerms.entropyNote),
    ];
  };
  return { layout: "stack", grids: [...side("Scaled"), ...side("Raw", 1)], start: firstCell("weightsRaw") };
}

export const tokens = 3;
export const dim = 2;

/** The matrices that are in force: shared ones take the place of the others. */
export function projections({ wq, wk, wv, tie }: Inputs): Record<"wq" | "wk" | "wv", readonly number[]> {
  const shared: Record<Tie, Record<"wq" | "wk" | "wv", readonly number[]>> = {
    own: { wq, wk, wv },
    qk: { wq, wk: wq, wv },
    kv: { wq, wk, wv: wk },
    all: { wq, wk: wq, wv: wq },
  };
  return shared[tie];
}

/** The passes of one head over X; torch keeps a projection as [out, in]. */
function layerPasses(inputs: Inputs) {
  const { wq, wk, wv } = projections(inputs);
  const x = { data: inputs.x, shape: [tokens, dim] };
  const state = {
    in_proj_weight: { data: [wq, wk, wv].flatMap((w) => transposed(w, dim, dim)), shape: [3 * dim, dim] },
    "out_proj.weight": [
      [1, 0],
      [0, 1],
    ],
  };
  return withLayer(new MultiHeadAttention({ embedDim: dim, numHeads: 1, bias: false }), (layer) => {
    layer.loadStateDict(state);
    return passes(layer.trace(x, x, x));
  });
}

const made = {
  q: { from: "wq", role: "query", label: labels.q },
  k: { from: "wk", role: "key", label: labels.k },
  v: { from: "wv", role: "value", label: labels.v },
} as const;

const weightNames = {
  wq: { label: labels.wq, role: "query" },
  wk: { label: labels.wk, role: "key" },
  wv: { label: labels.wv, role: "value" },
} as const;

function tiedFigure(step: string, inputs: Inputs, change: Change): Figure {
  const pass = layerPasses(inputs);
  const used = projections(inputs);
  const projected = { q: pass.query, k: pass.key, v: pass.value };
  const x = Float32Array.from(inputs.x);

  const xGrid = typedGrid("x", inputs, change, {
    label: labels.tokens,
    rows: symbols("x", tokens),
    cols: numerals(dim),
    name: "x",
    note: explanations.token,
  });
  /** Open for typing; a matrix that another stands in for is left out. */
  const own = (["wq", "wk", "wv"] as const).filter(
    (key) => used[key] === inputs[key] && (step === "merged" || key !== "wv"),
  );
  const matrices = own.map((key) =>
    typedGrid(key, inputs, change, {
      ...weightNames[key],
      rows: numerals(dim),
      cols: numerals(dim),
      name: "w",
      note: explanations.parameter,
    }),
  );
  const matrixOf = (from: "wq" | "wk" | "wv") => own.find((key) => used[key] === used[from]) ?? from;
  const product = (name: keyof typeof made): Grid => {
    const { from, role, label } = made[name];
    const w = Float32Array.from(used[from]);
    return {
      id: name,
      label,
      data: projected[name],
      rows: symbols(name, tokens, role),
      cols: numerals(dim),
      role,
      scale: "signed",
      explain(row, col) {
        const exact = at(projected[name], dim, row, col);
        const terms = indices(dim).map(
          (e) =>
            [
              { value: at(x, dim, row, e), role: "plain" },
              { value: at(w, dim, e, col), role },
            ] as const,
        );
        return {
          segments: [...productSum(terms), ...equals(exact)],
          exact,
          lights: [
            { grid: "x", row },
            { grid: matrixOf(from), col },
          ],
        };
      },
    };
  };

  const under = { rows: queries(tokens), cols: keys(tokens) };
  const scores: Grid = {
    id: "scores",
    label: scaleTerms.s,
    data: pass.scores,
    ...under,
    role: "plain",
    scale: "signed",
    explain(row, col) {
      const exact = at(pass.scores, tokens, row, col);
      const terms = indices(dim).map(
        (e) =>
          [
            { value: at(pass.query, dim, row, e), role: "query" },
            { value: at(pass.key, dim, col, e), role: "key" },
          ] as const,
      );
      return {
        segments: [...productSum(terms), ...equals(exact)],
        exact,
        lights: [
          { grid: "q", row },
          { grid: "k", row: col },
        ],
      };
    },
  };
  const weights = weightsGrid({ ...under, data: pass.weights }, pass.exp, pass.rowSum);

  if (step === "symmetric") {
    const mirrored = transposed(pass.scores, tokens, tokens);
    const data = difference(pass.scores, mirrored);
    const skew: Grid = {
      id: "skew",
      label: scaleTerms.skew,
      data,
      ...under,
      role: "plain",
      scale: "signed",
      explain(row, col) {
        const exact = at(data, tokens, row, col);
        return {
          segments: minus(at(pass.scores, tokens, row, col), at(mirrored, tokens, row, col), exact),
          exact,
          lights: [
            { grid: "scores", row, col },
            { grid: "scores", row: col, col: row },
          ],
        };
      },
    };
    return {
      layout: "flow",
      grids: [
        xGrid,
        ...matrices,
        product("q"),
        product("k"),
        { ...scores, sign: "→" },
        { ...skew, sign: "→" },
        { ...weights, sign: "→" },
      ],
      start: { grid: "skew", row: 0, col: 1 },
    };
  }
  const output: Grid = {
    id: "output",
    label: labels.output,
    data: pass.output,
    rows: outputs(tokens),
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    explain: outputExplanation(weights, pass.value, pass.output, dim, { weights: "weights", values: "v" }),
  };
  return {
    layout: "flow",
    grids: [
      xGrid,
      ...matrices,
      product("q"),
      product("k"),
      product("v"),
      { ...weights, sign: "→" },
      { ...output, sign: "→" },
    ],
    start: firstCell("v"),
  };
}

export function scaleFigure(step: string, inputs: Inputs, change: Change): Figure | undefined {
  switch (step) {
    case "draws":
      return drawsFigure(inputs);
    case "saturation":
      return saturationFigure(inputs);
    case "symmetric":
    case "merged":
      return tiedFigure(step, inputs, change);
    default:
      return undefined;
  }
}

const tieNames: Readonly<Record<Tie, Text>> = {
  own: scaleTerms.tieOwn,
  qk: scaleTerms.tieQk,
  kv: scaleTerms.tieKv,
  all: scaleTerms.tieAll,
};

export function scaleControls(step: string): readonly Control[] {
  const width = { kind: "steps", key: "width", label: ui.dim, values: widths } as const;
  const keyCount = { kind: "steps", key: "keyCount", label: scaleTerms.keyCount, values: keyCounts } as const;
  switch (step) {
    case "saturation":
      return [width, keyCount, seedControl];
    case "entropy":
      return [keyCount, seedControl];
    case "symmetric":
    case "merged":
      return [
        {
          kind: "choice",
          key: "tie",
          label: scaleTerms.tie,
          options: ties.map((tie) => [tie, tieNames[tie]] as const),
        },
      ];
    default:
      return [seedControl];
  }
}

/** The variance of sampled dot products beside what theory says, before and after the division. */
export const variancePlot = (found: readonly Spread[]): Plot => ({
  id: "variance",
  title: scaleTerms.varianceByWidth,
  x: { label: ui.dim, log: 2, from: widths[0], to: widths.at(-1) ?? 1 },
  y: { label: scaleTerms.varianceAxis, log: 2, from: 0.5, to: 256 },
  series: [
    {
      name: scaleTerms.theoryRaw,
      line: "dashed",
      tone: 1,
      points: found.map(({ dim, theory }) => [dim, theory.variance]),
    },
    {
      name: scaleTerms.sampledRaw,
      mark: "square",
      tone: 1,
      points: found.map(({ dim, variance }) => [dim, variance]),
    },
    {
      name: scaleTerms.theoryScaled,
      line: "dashed",
      points: found.map(({ dim, theory }) => [dim, theory.varianceScaled]),
    },
    { name: scaleTerms.sampledScaled, mark: "circle", points: found.map(({ dim, scaled }) => [dim, scaled]) },
  ],
});

export function entropyPlots(found: readonly Saturation[]): readonly Plot[] {
  const x = { label: ui.dim, log: 2, from: widths[0], to: widths.at(-1) ?? 1 } as const;
  const series = (read: (sharpness: Sharpness) => number): Plot["series"] => [
    {
      name: scaleTerms.withScale,
      line: "solid",
      mark: "circle",
      points: found.map(({ dim, scaled }) => [dim, read(scaled)]),
    },
    {
      name: scaleTerms.withoutScale,
      line: "dashed",
      mark: "square",
      tone: 1,
      points: found.map(({ dim, unscaled }) => [dim, read(unscaled)]),
    },
  ];
  return [
    {
      id: "entropy",
      title: scaleTerms.entropyByWidth,
      x,
      y: { label: scaleTerms.bits, from: 0 },
      series: series(({ entropy }) => entropy),
    },
    {
      id: "largest",
      title: scaleTerms.largestByWidth,
      x,
      y: { label: ui.weight, from: 0, to: 1 },
      series: series(({ largest }) => largest),
    },
  ];
}
