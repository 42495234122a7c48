import { rowSums } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import { equals, number, productSum, sum, symbol, text, words } from "./explain.ts";
import { at, type Explanation, type Grid, indices, symbols, type Symbol } from "./figure.ts";

// The grids of an attention's intermediates, each with the arithmetic of its cells.

/** [L, S] numbers with the headers that they go under. */
export interface Square {
  data: ArrayLike<number>;
  rows: readonly Symbol[];
  cols: readonly Symbol[];
}

const sigma: Symbol = { name: "Σ" };

type Hidden = (row: number, col: number) => boolean;

const rowOf = ({ data, cols }: Square, row: number) =>
  indices(cols.length).map((col) => ({ value: at(data, cols.length, row, col), role: "plain" as const }));

const one = (data: ArrayLike<number>, index: number) => data[index] ?? NaN;

/** q_i · k_j = … for scores [L, S] of q [L, E] and k [S, E]. */
export function scoreExplanation(square: Square, q: ArrayLike<number>, k: ArrayLike<number>, dim: number) {
  return (row: number, col: number): Explanation => {
    const exact = at(square.data, square.cols.length, row, col);
    const pairs = indices(dim).map(
      (e) =>
        [
          { value: at(q, dim, row, e), role: "query" },
          { value: at(k, dim, col, e), role: "key" },
        ] as const,
    );
    return {
      segments: [
        symbol("q", row, "query"),
        text(" · "),
        symbol("k", col, "key"),
        text(" = "),
        ...productSum(pairs),
        ...equals(exact),
      ],
      exact,
      lights: [
        { grid: "q", row },
        { grid: "kT", col },
      ],
    };
  };
}

export function rowMaxGrid(square: Square, rowMax: ArrayLike<number>): Grid {
  return {
    id: "rowMax",
    label: labels.rowMax,
    data: rowMax,
    rows: square.rows,
    cols: [{ name: "m" }],
    role: "plain",
    scale: "signed",
    explain(row) {
      const exact = one(rowMax, row);
      const operands = rowOf(square, row).flatMap(({ value }, index) =>
        index === 0 ? [number(value)] : [text(", "), number(value)],
      );
      return {
        segments: [symbol("m", row), text(" = max("), ...operands, text(")"), ...equals(exact)],
        exact,
        lights: [{ grid: "masked", row }],
      };
    },
  };
}

export function expGrid(
  square: Square,
  rowMax: ArrayLike<number>,
  exp: ArrayLike<number>,
  hidden?: Hidden,
): Grid {
  return {
    id: "exp",
    label: labels.exp,
    data: exp,
    rows: square.rows,
    cols: square.cols,
    role: "plain",
    scale: "signed",
    ...(hidden && { hidden }),
    explain(row, col) {
      const exact = at(exp, square.cols.length, row, col);
      const score = at(square.data, square.cols.length, row, col);
      const most = one(rowMax, row);
      const difference = [text("exp("), number(score), text(" − "), number(most, "plain", true), text(")")];
      return {
        segments: most === -Infinity ? [words(explanations.noKey)] : [...difference, ...equals(exact)],
        exact,
        lights: [
          { grid: "masked", row, col },
          { grid: "rowMax", row },
        ],
      };
    },
  };
}

export function rowSumGrid(exp: Square, rowSum: ArrayLike<number>, id = "rowSum"): Grid {
  return {
    id,
    label: labels.rowSum,
    data: rowSum,
    rows: exp.rows,
    cols: [sigma],
    role: "plain",
    scale: "none",
    explain(row) {
      const exact = one(rowSum, row);
      return { segments: [...sum(rowOf(exp, row)), ...equals(exact)], exact, lights: [{ grid: "exp", row }] };
    },
  };
}

/** exp ÷ row sum; where a row has no key left, the convention. */
export function weightsGrid(
  weights: Square,
  exp: ArrayLike<number>,
  rowSum: ArrayLike<number>,
  extra: Partial<Pick<Grid, "id" | "label" | "hidden" | "moved" | "cutAfter">> = {},
): Grid {
  return {
    id: "weights",
    label: labels.weights,
    ...weights,
    role: "weight",
    scale: "weights",
    ...extra,
    explain(row, col) {
      const exact = at(weights.data, weights.cols.length, row, col);
      const denominator = one(rowSum, row);
      const segments =
        denominator === 0
          ? [words(explanations.noKey)]
          : [
              number(at(exp, weights.cols.length, row, col)),
              text(" ÷ "),
              number(denominator),
              ...equals(exact),
            ];
      return {
        segments,
        exact,
        lights: [
          { grid: "exp", row, col },
          { grid: "rowSum", row },
        ],
      };
    },
  };
}

/** What the rows of weights add up to, as the core adds them up. */
export function totalGrid(weights: Square, weightsId = "weights"): Grid {
  const totals = rowSums({
    data: Float32Array.from(weights.data),
    shape: [weights.rows.length, weights.cols.length],
  });
  return {
    id: `${weightsId}Total`,
    label: labels.total,
    data: totals.data,
    rows: weights.rows,
    cols: [sigma],
    role: "plain",
    scale: "none",
    explain(row) {
      const exact = one(totals.data, row);
      const operands = rowOf(weights, row).map(({ value }) => ({ value, role: "weight" as const }));
      return { segments: [...sum(operands), ...equals(exact)], exact, lights: [{ grid: weightsId, row }] };
    },
  };
}

/** Σ_j w_ij v_je for output [L, E]. */
export function outputExplanation(
  weights: Square,
  values: ArrayLike<number>,
  output: ArrayLike<number>,
  dim: number,
  grids: { weights: string; values: string },
) {
  return (row: number, col: number): Explanation => {
    const exact = at(output, dim, row, col);
    const pairs = indices(weights.cols.length).map(
      (key) =>
        [
          { value: at(weights.data, weights.cols.length, row, key), role: "weight" },
          { value: at(values, dim, key, col), role: "value" },
        ] as const,
    );
    return {
      segments: [...productSum(pairs), ...equals(exact)],
      exact,
      lights: [
        { grid: grids.weights, row },
        { grid: grids.values, col },
      ],
    };
  };
}

export const queries = (count: number) => symbols("q", count, "query");
export const keys = (count: number) => symbols("k", count, "key");
export const outputs = (count: number) => symbols("o", count);
