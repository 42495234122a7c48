import { faultyAttention } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import type { Text } from "../content/text.ts";
import type { Bits } from "../state/codec.ts";
import type { Inputs } from "../state/inputs.ts";
import { equals, number, text, words } from "./explain.ts";
import { at, type Grid, passes, type Symbol } from "./figure.ts";
import { tokens } from "./formula.ts";
import { keys, queries, totalGrid, weightsGrid } from "./passes.ts";

/** Keep bits as the core takes them. */
export const maskOf = (bits: Bits, shape: readonly number[]) => ({
  data: Uint8Array.from(bits, Number),
  shape,
});

export const hiddenBy = (bits: Bits) => (row: number, col: number) =>
  at(Array.from(bits, Number), tokens, row, col) === 0;

interface MaskNames {
  id: string;
  label: Text;
  rows: readonly Symbol[];
}

/** A mask of keep bits; its cells can be turned over when `change` is given. */
export function maskGrid(
  names: MaskNames,
  bits: Bits,
  says: { on: Text; off: Text },
  change?: (bits: Bits) => void,
): Grid {
  return {
    ...names,
    data: Array.from(bits, Number),
    cols: keys(tokens),
    role: "plain",
    scale: "bits",
    hidden: hiddenBy(bits),
    ...(change && {
      toggle: (row: number, col: number) => {
        const index = row * tokens + col;
        change(bits.with(index, bits[index] === false));
      },
    }),
    explain: (row, col) => ({
      segments: [words(hiddenBy(bits)(row, col) ? says.off : says.on, { i: row, j: col })],
      lights: [],
    }),
  };
}

export const squareWords = { on: explanations.visible, off: explanations.hidden };
export const rowWords = { on: explanations.realKey, off: explanations.paddedKey };

/** score + additive mask. */
export function maskedGrid(
  rows: readonly Symbol[],
  masked: ArrayLike<number>,
  scores: Grid,
  additive: ArrayLike<number>,
  hidden: Grid["hidden"],
): Grid {
  return {
    id: "masked",
    label: labels.masked,
    data: masked,
    rows,
    cols: keys(tokens),
    role: "plain",
    scale: "signed",
    ...(hidden && { hidden }),
    explain(row, col) {
      const exact = at(masked, tokens, row, col);
      return {
        segments: [
          number(at(scores.data, tokens, row, col)),
          text(" + "),
          number(at(additive, tokens, row, col), "plain", true),
          ...equals(exact),
        ],
        exact,
        lights: [
          { grid: scores.id, row, col },
          { grid: "keep", row, col },
          { grid: "additive", row, col },
        ],
      };
    },
  };
}

export function additiveGrid(rows: readonly Symbol[], additive: ArrayLike<number>, bits: Bits): Grid {
  return {
    id: "additive",
    label: labels.additive,
    data: additive,
    rows,
    cols: keys(tokens),
    role: "plain",
    scale: "none",
    hidden: hiddenBy(bits),
    explain: (row, col) => ({
      segments: [
        words(hiddenBy(bits)(row, col) ? explanations.hidden : explanations.visible, { i: row, j: col }),
        text(": "),
        number(at(additive, tokens, row, col)),
      ],
      lights: [{ grid: "keep", row, col }],
    }),
  };
}

/** softmax first, zeros afterwards: the wrong order, pass by pass. */
export function wrongOrder(rows: readonly Symbol[], scores: ArrayLike<number>, bits: Bits) {
  const shape = [rows.length, tokens];
  const trace = faultyAttention.softmaxThenMask(
    { data: Float32Array.from(scores), shape },
    { mask: maskOf(bits, shape) },
  );
  const pass = passes(trace);
  const under = (data: ArrayLike<number>) => ({ data, rows, cols: keys(tokens) });
  const everything = weightsGrid(under(pass.softmax), pass.exp, pass.rowSum, {
    id: "softmaxAll",
    label: labels.softmaxAll,
  });
  const hidden = hiddenBy(bits);
  const weights: Grid = {
    ...everything,
    id: "wrong",
    label: labels.wrongWeights,
    data: pass.weights,
    hidden,
    explain(row, col) {
      const exact = at(pass.weights, tokens, row, col);
      return {
        segments: [
          number(at(pass.softmax, tokens, row, col), "weight"),
          text(" × "),
          number(hidden(row, col) ? 0 : 1),
          ...equals(exact),
        ],
        exact,
        lights: [
          { grid: "softmaxAll", row, col },
          { grid: "keep", row, col },
        ],
      };
    },
  };
  return { everything, weights, total: totalGrid(weights, weights.id) };
}

/** causal AND padding, cell by cell. */
export function bothGrid(allowed: Bits, inputs: Inputs): Grid {
  const grid = maskGrid({ id: "both", label: labels.both, rows: queries(tokens) }, allowed, squareWords);
  const bit = (bits: Bits, index: number) => number(bits[index] === true ? 1 : 0);
  return {
    ...grid,
    explain: (row, col) => ({
      segments: [
        bit(inputs.mask, row * tokens + col),
        text(" AND "),
        bit(inputs.padding, col),
        text(" = "),
        bit(allowed, row * tokens + col),
      ],
      lights: [
        { grid: "causal", row, col },
        { grid: "padding", col },
      ],
    }),
  };
}
