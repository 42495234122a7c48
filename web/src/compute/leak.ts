import {
  type CausalityReport,
  faultyAttention,
  type Leak,
  scaledDotProductAttention,
  type Tensor,
} from "softlookup";
import { explanations } from "../content/explanations.ts";
import { type CandidateName, faults } from "../content/faults.ts";
import { labels } from "../content/labels.ts";
import { candidates, leakTerms } from "../content/leak.ts";
import { ui } from "../content/ui.ts";
import { leakRanges, withEdit } from "../state/fields/leak.ts";
import type { Inputs } from "../state/inputs.ts";
import { type Control, seedControl } from "./controls.ts";
import { equals, gap, given, number, symbol, text, words } from "./explain.ts";
import { at, type Figure, firstCell, type Grid, indices, numerals, passes, symbols } from "./figure.ts";
import { expGrid, keys, outputExplanation, outputs, queries, rowSumGrid, weightsGrid } from "./passes.ts";
import { attend, moves, sequences, sequenceTensor } from "./sequence.ts";
import type { Change } from "./typed.ts";

/** X, or R with the replaced tokens marked; both open for typing, R only after the cut. */
function tokensGrid(which: "tokens" | "future", inputs: Inputs, change: Change): Grid {
  const { original, replaced } = sequences(inputs);
  const { length, dim, cut } = inputs;
  const future = which === "future";
  const data = future ? replaced : original;
  const stored = Float32Array.from(data);
  const nameOf = (row: number) => (future && row > cut ? "r" : "x");
  return {
    id: which,
    label: future ? leakTerms.replaced : labels.tokens,
    data,
    rows: indices(length).map((index) => ({ name: nameOf(index), index })),
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    ...(future && { moved: moves(original, replaced, dim, -1), cutAfter: cut }),
    type: {
      from: future ? cut + 1 : 0,
      write: (row, col, value) => {
        change(
          { [which]: withEdit(inputs[which], { row, col, value }) },
          `${which}.${String(row)}.${String(col)}`,
        );
      },
    },
    explain(row, col) {
      const exact = at(stored, dim, row, col);
      const note = row <= cut ? leakTerms.kept : leakTerms.swapped;
      return {
        segments: given(
          symbol(nameOf(row), `${String(row)},${String(col)}`),
          exact,
          "plain",
          words(future ? note : explanations.token, { i: row, j: col }),
        ),
        exact,
        lights: future ? [{ grid: "tokens", row, col }] : [],
      };
    },
  };
}

const runs = {
  Before: {
    rowSum: leakTerms.rowSumBefore,
    weights: leakTerms.weightsBefore,
    output: leakTerms.outputBefore,
  },
  After: { rowSum: leakTerms.rowSumAfter, weights: leakTerms.weightsAfter, output: leakTerms.outputAfter },
} as const;

/** What a check found wrong: moves, and NaN where there was none. */
export const findings = ({ leaks, poisonings }: CausalityReport): readonly Leak[] => [
  ...leaks,
  ...poisonings,
];

/** What a step has checked at every cut. */
export function checkedAt(step: string, { fault }: Inputs): readonly CandidateName[] {
  if (step === "check") return ["causal", "no-mask", "mask-after-softmax"];
  return step === "others" ? [fault] : [];
}

type Examined = "causal" | "no-mask" | "mask-after-softmax";

/** The weights that a candidate gives to x, pass by pass; with the wrong order also before the zeros came. */
function weightPasses(name: Examined, x: Tensor) {
  if (name !== "mask-after-softmax") {
    const pass = passes(scaledDotProductAttention.trace(x, x, x, { causal: name === "causal" }));
    return { ...pass, softmax: pass.weights };
  }
  const { scaled } = passes(scaledDotProductAttention.trace(x, x, x));
  const length = x.shape[0] ?? 0;
  const trace = faultyAttention.softmaxThenMask({ data: scaled, shape: [length, length] }, { causal: true });
  return { ...passes(trace), masked: scaled };
}

/** One run of a candidate: its weights, the row sums that they were divided by, its output. */
function run(name: Examined, which: keyof typeof runs, data: readonly number[], inputs: Inputs) {
  const { length, dim, cut } = inputs;
  const x = sequenceTensor(data, inputs);
  const pass = weightPasses(name, x);
  const output = "output" in pass ? pass.output : attend(name, x).data;
  const under = (numbers: ArrayLike<number>) => ({
    data: numbers,
    rows: queries(length),
    cols: keys(length),
  });

  const hidden = (row: number, col: number) => name !== "no-mask" && col > row;
  const rowSum: Grid = {
    ...rowSumGrid(expGrid(under(pass.masked), pass.rowMax, pass.exp), pass.rowSum),
    id: `rowSum${which}`,
    label: runs[which].rowSum,
    cutAfter: cut,
  };
  const divided = weightsGrid(under(pass.weights), pass.exp, pass.rowSum);
  const weights: Grid = {
    ...divided,
    id: `weights${which}`,
    label: runs[which].weights,
    hidden,
    cutAfter: cut,
    explain(row, col) {
      const exact = at(pass.weights, length, row, col);
      const struckOut = [
        number(at(pass.softmax, length, row, col), "weight"),
        text(" × "),
        number(0),
        ...equals(exact),
      ];
      const late = name === "mask-after-softmax" && hidden(row, col);
      return {
        segments: late ? struckOut : divided.explain(row, col).segments,
        exact,
        lights: [{ grid: rowSum.id, row }],
      };
    },
  };
  const outputGrid: Grid = {
    id: `output${which}`,
    label: runs[which].output,
    data: output,
    rows: outputs(length),
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    cutAfter: cut,
    explain: outputExplanation(weights, x.data, output, dim, { weights: weights.id, values: "" }),
  };
  return [weights, rowSum, outputGrid] as const;
}

/** The second of two runs, with what moved since the first. */
function compared(before: Grid, after: Grid, cut: number): Grid {
  const cols = after.cols.length;
  const moved = moves(before.data, after.data, cols, cut);
  return {
    ...after,
    moved,
    explain(row, col) {
      const explanation = after.explain(row, col);
      const move = moved(row, col);
      const was = [words(explanations.was), text(" "), number(at(before.data, cols, row, col)), gap];
      const verdict = { leak: leakTerms.leaked, moved: explanations.moved };
      return {
        ...explanation,
        segments: [
          ...explanation.segments,
          gap,
          ...(move ? [...was, words(verdict[move])] : [words(explanations.unmoved)]),
        ],
        lights: [...explanation.lights, { grid: before.id, row, col }],
      };
    },
  };
}

/** A candidate on X and on R, side by side. */
function experiment(name: Examined, inputs: Inputs): Figure {
  const { original, replaced } = sequences(inputs);
  const before = run(name, "Before", original, inputs);
  const after = run(name, "After", replaced, inputs);
  const both = (index: 0 | 1 | 2) => [before[index], compared(before[index], after[index], inputs.cut)];
  const [weights, rowSums, output] = [both(0), both(1), both(2)];
  // The row sums are where the late mask leaks.
  const why = name === "mask-after-softmax" ? [...weights, ...rowSums] : weights;
  return { layout: "pairs", grids: [...output, ...why], start: firstCell("outputAfter") };
}

/** Influence [replaced token j, output i]; below the diagonal there must be nothing. */
export function influenceFigure({ length, influence }: CausalityReport): Figure {
  const reached = (row: number, col: number) => at(influence.data, length, row, col) !== 0;
  const grid: Grid = {
    id: "influence",
    label: leakTerms.influence,
    data: influence.data,
    rows: symbols("x", length),
    cols: outputs(length),
    role: "plain",
    scale: "moves",
    moved: (row, col) => (reached(row, col) && col < row ? "leak" : undefined),
    explain(row, col) {
      const values = { i: col, j: row };
      if (!reached(row, col)) return { segments: [words(leakTerms.influenceNone, values)], lights: [] };
      const exact = at(influence.data, length, row, col);
      const note = col < row ? leakTerms.influenceLeak : leakTerms.influenceFair;
      return { segments: [words(note, values), text(" "), number(exact)], exact, lights: [] };
    },
  };
  // The last token and the first output: as far apart in time as can be.
  return { layout: "flow", grids: [grid], start: { grid: grid.id, row: length - 1, col: 0 } };
}

export function leakFigure(step: string, inputs: Inputs, change: Change): Figure | undefined {
  switch (step) {
    case "tokens":
      return { layout: "flow", grids: [tokensGrid("tokens", inputs, change)], start: firstCell("tokens") };
    case "replace":
      return {
        layout: "flow",
        grids: [tokensGrid("tokens", inputs, change), { ...tokensGrid("future", inputs, change), sign: "→" }],
        start: firstCell("future"),
      };
    case "causal":
      return experiment("causal", inputs);
    case "no-mask":
      return experiment("no-mask", inputs);
    case "after-softmax":
      return experiment("mask-after-softmax", inputs);
    default:
      return undefined;
  }
}

/** The settings of a step. */
export function leakControls(step: string, { length }: Inputs): readonly Control[] {
  const usesCut = ["replace", "causal", "no-mask", "after-softmax"].includes(step);
  return [
    { kind: "slider", key: "length", label: ui.length, range: leakRanges.length },
    { kind: "slider", key: "dim", label: ui.dim, range: leakRanges.dim },
    ...(usesCut
      ? [{ kind: "slider", key: "cut", label: leakTerms.cut, range: [0, length - 2] } as const]
      : []),
    seedControl,
    ...(step === "others"
      ? [
          {
            kind: "choice",
            key: "fault",
            label: leakTerms.fault,
            options: faults.map((name) => [name, candidates[name].name] as const),
          } as const,
        ]
      : []),
  ];
}
