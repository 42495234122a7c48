import { masks, scaledDotProductAttention } from "softlookup";
import { labels } from "../content/labels.ts";
import type { Bits } from "../state/codec.ts";
import type { Inputs } from "../state/inputs.ts";
import { bitsOf, type Figure, firstCell, passes } from "./figure.ts";
import { blend, exampleOf, scaledGrid, tokens } from "./formula.ts";
import {
  bothGrid,
  hiddenBy,
  maskedGrid,
  maskGrid,
  maskOf,
  rowWords,
  squareWords,
  wrongOrder,
} from "./mask-grids.ts";
import { paddingFigure } from "./padding.ts";
import { expGrid, keys, queries, rowSumGrid, totalGrid, weightsGrid } from "./passes.ts";
import type { Change } from "./typed.ts";

/** The example under a mask: its passes and the grids that every step shows some of. */
function underMask(inputs: Inputs, bits: Bits) {
  const mask = maskOf(bits, [tokens, tokens]);
  const pass = passes(scaledDotProductAttention.trace(...exampleOf(inputs), { mask }));
  const hidden = hiddenBy(bits);
  const scaled = { ...scaledGrid(pass.scores, pass.scaled), id: "scaled" };
  const masked = maskedGrid(queries(tokens), pass.masked, scaled, masks.toAdditive(mask).data, hidden);
  const exp = expGrid(masked, pass.rowMax, pass.exp, hidden);
  const rowSum = rowSumGrid(exp, pass.rowSum);
  const square = { data: pass.weights, rows: queries(tokens), cols: keys(tokens) };
  const weights = weightsGrid(square, pass.exp, pass.rowSum, { hidden });
  return { pass, scaled, masked, exp, rowSum, weights, total: totalGrid(weights) };
}

export function masksFigure(step: string, inputs: Inputs, change: Change): Figure {
  const square = { id: "keep", label: labels.causal, rows: queries(tokens) };
  const causal = maskGrid(square, inputs.mask, squareWords, (bits) => {
    change({ mask: bits });
  });

  switch (step) {
    case "causal": {
      const { scaled, masked } = underMask(inputs, inputs.mask);
      return {
        layout: "triples",
        grids: [scaled, causal, { ...masked, sign: "→" }],
        start: firstCell("masked"),
      };
    }
    case "causal-weights": {
      const { masked, exp, rowSum, weights, total } = underMask(inputs, inputs.mask);
      return {
        layout: "triples",
        grids: [masked, exp, rowSum, causal, { ...weights, sign: "→" }, total],
        start: firstCell("weights"),
      };
    }
    case "causal-output": {
      const { weights, pass } = underMask(inputs, inputs.mask);
      return blend(weights, inputs, pass.output, change);
    }
    case "both":
    case "both-weights": {
      const padding = maskOf(inputs.padding, [1, tokens]);
      const allowed = bitsOf(masks.and(maskOf(inputs.mask, [tokens, tokens]), padding));
      const paddingGrid = maskGrid(
        { id: "padding", label: labels.padding, rows: [{ name: "q", index: "i", role: "query" }] },
        inputs.padding,
        rowWords,
        (bits) => {
          change({ padding: bits });
        },
      );
      const both = bothGrid(allowed, inputs);
      if (step === "both") {
        return {
          layout: "triples",
          grids: [
            { ...causal, id: "causal" },
            { ...paddingGrid, sign: "∧" },
            { ...both, sign: "=" },
          ],
          start: firstCell("both"),
        };
      }
      const { weights, total, pass } = underMask(inputs, allowed);
      const blended = blend(weights, inputs, pass.output, change).grids;
      return {
        layout: "triples",
        grids: [both, weights, total, ...blended.slice(1)],
        start: firstCell("weights"),
      };
    }
    case "wrong-rows": {
      const { scaled, weights, total } = underMask(inputs, inputs.mask);
      const wrong = wrongOrder(queries(tokens), scaled.data, inputs.mask);
      return {
        layout: "triples",
        grids: [
          causal,
          { ...weights, label: labels.rightWeights },
          total,
          wrong.everything,
          wrong.weights,
          wrong.total,
        ],
        start: firstCell("wrong"),
      };
    }
    default:
      return paddingFigure(step, inputs, change);
  }
}
