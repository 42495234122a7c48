import { masks, softmax } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import type { Inputs } from "../state/inputs.ts";
import { given, symbol, words } from "./explain.ts";
import { type Figure, firstCell, type Grid, passes } from "./figure.ts";
import { tokens } from "./formula.ts";
import { additiveGrid, hiddenBy, maskedGrid, maskGrid, maskOf, rowWords, wrongOrder } from "./mask-grids.ts";
import { expGrid, keys, queries, rowSumGrid, totalGrid, weightsGrid } from "./passes.ts";
import type { Change } from "./typed.ts";

/** One row of scores, some of them padding; and what becomes of it when the mask comes too late. */
export function paddingFigure(step: string, inputs: Inputs, change: Change): Figure {
  const rows = queries(1);
  const keep = maskOf(inputs.keep, [1, tokens]);
  const hidden = hiddenBy(inputs.keep);
  const pass = passes(softmax.trace({ data: inputs.scores, shape: [1, tokens] }, { mask: keep }));
  const additive = masks.toAdditive(keep).data;
  const stored = Float32Array.from(inputs.scores);

  const scores: Grid = {
    id: "scores",
    label: labels.rowScores,
    data: inputs.scores,
    rows,
    cols: keys(tokens),
    role: "plain",
    scale: "signed",
    type: {
      write: (_, col, value) => {
        change({ scores: inputs.scores.with(col, value) }, `scores.${col}`);
      },
    },
    explain: (_, col) => ({
      segments: given(symbol("s", col), stored[col] ?? NaN, "plain", words(explanations.score, { j: col })),
      exact: stored[col] ?? NaN,
      lights: [],
    }),
  };
  const keepGrid = maskGrid({ id: "keep", label: labels.keep, rows }, inputs.keep, rowWords, (bits) => {
    change({ keep: bits });
  });
  const masked = maskedGrid(rows, pass.masked, scores, additive, hidden);
  const exp = expGrid(masked, pass.rowMax, pass.exp, hidden);
  const rowSum = rowSumGrid(exp, pass.rowSum);
  const right = weightsGrid({ data: pass.weights, rows, cols: keys(tokens) }, pass.exp, pass.rowSum, {
    hidden,
  });
  const additiveRow = additiveGrid(rows, additive, inputs.keep);

  switch (step) {
    case "padding":
      return { layout: "stack", grids: [scores, keepGrid], start: firstCell("keep") };
    case "padding-masked":
      return { layout: "stack", grids: [scores, keepGrid, additiveRow, masked], start: firstCell("masked") };
    case "padding-exp":
      return { layout: "stack", grids: [scores, keepGrid, masked, exp, rowSum], start: firstCell("exp") };
    case "padding-weights":
      return {
        layout: "stack",
        grids: [scores, keepGrid, exp, rowSum, right, totalGrid(right)],
        start: firstCell("weights"),
      };
    default: {
      const wrong = wrongOrder(rows, inputs.scores, inputs.keep);
      const named = { ...right, label: labels.rightWeights };
      return {
        layout: "stack",
        grids: [scores, keepGrid, named, totalGrid(right), wrong.everything, wrong.weights, wrong.total],
        start: firstCell("wrong"),
      };
    }
  }
}
