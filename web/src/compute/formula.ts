import { scaledDotProductAttention } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import type { Inputs } from "../state/inputs.ts";
import { equals, number, text, words } from "./explain.ts";
import { at, type Figure, firstCell, type Grid, numerals, passes, symbols, transposed } from "./figure.ts";
import {
  expGrid,
  keys,
  outputExplanation,
  outputs,
  queries,
  rowMaxGrid,
  rowSumGrid,
  scoreExplanation,
  type Square,
  totalGrid,
  weightsGrid,
} from "./passes.ts";
import { type Change, typedGrid } from "./typed.ts";

export const tokens = 4;
export const dim = 2;

const matrix = (data: readonly number[]) => ({ data, shape: [tokens, dim] });

export function exampleOf({ q, k, v }: Inputs) {
  return [matrix(q), matrix(k), matrix(v)] as const;
}

const kinds = {
  q: { role: "query", label: labels.q, note: explanations.query },
  k: { role: "key", label: labels.k, note: explanations.key },
  v: { role: "value", label: labels.v, note: explanations.value },
} as const;

/** One of Q, K, V. */
function inputGrid(name: keyof typeof kinds, inputs: Inputs, change: Change): Grid {
  const { role, ...kind } = kinds[name];
  return typedGrid(name, inputs, change, {
    ...kind,
    name,
    role,
    rows: symbols(name, tokens, role),
    cols: numerals(dim),
  });
}

/** K with its rows upright, so that row i of Q and column j meet in cell (i, j). */
function uprightKeys(inputs: Inputs, change: Change): Grid {
  const grid = inputGrid("k", inputs, change);
  return {
    ...grid,
    id: "kT",
    label: labels.kT,
    data: transposed(grid.data, tokens, dim),
    rows: grid.cols,
    cols: grid.rows,
    type: { write: (row, col, value) => grid.type?.write(col, row, value) },
    explain: (row, col) => grid.explain(col, row),
  };
}

export function scaledGrid(scores: ArrayLike<number>, scaled: ArrayLike<number>): Grid {
  return {
    id: "masked",
    label: labels.scaled,
    data: scaled,
    rows: queries(tokens),
    cols: keys(tokens),
    role: "plain",
    scale: "signed",
    explain(row, col) {
      const exact = at(scaled, tokens, row, col);
      return {
        segments: [
          number(at(scores, tokens, row, col)),
          text(" ÷ "),
          words(explanations.root),
          ...equals(exact),
        ],
        exact,
        lights: [{ grid: "scores", row, col }],
      };
    },
  };
}

/** Weights on the left, values above, blended where they meet. */
export function blend(weights: Grid, inputs: Inputs, output: ArrayLike<number>, change: Change): Figure {
  return {
    layout: "product",
    grids: [
      weights,
      inputGrid("v", inputs, change),
      {
        id: "output",
        label: labels.output,
        data: output,
        rows: outputs(tokens),
        cols: numerals(dim),
        role: "plain",
        scale: "signed",
        explain: outputExplanation(weights, Float32Array.from(inputs.v), output, dim, {
          weights: weights.id,
          values: "v",
        }),
      },
    ],
    start: firstCell("output"),
  };
}

export function formulaFigure(step: string, inputs: Inputs, change: Change): Figure {
  const pass = passes(scaledDotProductAttention.trace(...exampleOf(inputs)));
  const under = (data: ArrayLike<number>): Square => ({ data, rows: queries(tokens), cols: keys(tokens) });

  const scores = under(pass.scores);
  const scoresGrid: Grid = {
    id: "scores",
    label: labels.scores,
    ...scores,
    role: "plain",
    scale: "signed",
    explain: scoreExplanation(scores, Float32Array.from(inputs.q), Float32Array.from(inputs.k), dim),
  };
  const scaled = scaledGrid(pass.scores, pass.scaled);
  const rowMax = rowMaxGrid(scaled, pass.rowMax);
  const exp = expGrid(scaled, pass.rowMax, pass.exp);
  const rowSum = rowSumGrid(exp, pass.rowSum);
  const weights = weightsGrid(under(pass.weights), pass.exp, pass.rowSum);
  const input = (name: keyof typeof kinds) => inputGrid(name, inputs, change);

  switch (step) {
    case "inputs":
      return { layout: "flow", grids: [input("q"), input("k"), input("v")], start: firstCell("q") };
    case "scores":
      return {
        layout: "product",
        grids: [input("q"), uprightKeys(inputs, change), scoresGrid],
        start: firstCell("scores"),
      };
    case "scaled":
      return { layout: "flow", grids: [scoresGrid, { ...scaled, sign: "→" }], start: firstCell("masked") };
    case "row-max":
      return { layout: "flow", grids: [scaled, { ...rowMax, sign: "→" }], start: firstCell("rowMax") };
    case "exp":
      return { layout: "flow", grids: [scaled, rowMax, { ...exp, sign: "→" }], start: firstCell("exp") };
    case "row-sum":
      return { layout: "flow", grids: [exp, { ...rowSum, sign: "→" }], start: firstCell("rowSum") };
    case "weights":
      return {
        layout: "flow",
        grids: [exp, rowSum, { ...weights, sign: "→" }, totalGrid(weights)],
        start: firstCell("weights"),
      };
    default:
      return blend(weights, inputs, pass.output, change);
  }
}
