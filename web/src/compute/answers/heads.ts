import { cost, GroupedQueryAttention } from "softlookup";
import type { headsQuestions } from "../../content/questions/heads.ts";
import { defaults, type Inputs } from "../../state/inputs.ts";
import { at, type Figure, indices } from "../figure.ts";
import { headsFigure } from "../heads.ts";
import { withLayer } from "../layers.ts";
import type { Answers } from "./answer.ts";

const nothing = () => undefined;

/** What a figure of the lesson marks. */
function marks(step: string, inputs: Inputs, grid: string) {
  const found = (headsFigure(step, inputs, nothing) as Figure).grids.find(({ id }) => id === grid);
  const cells = indices(found?.rows.length ?? 0).flatMap((row) =>
    indices(found?.cols.length ?? 0).map((col) => ({ col, marked: found?.moved?.(row, col) !== undefined })),
  );
  return {
    count: cells.length,
    marked: cells.filter(({ marked }) => marked).length,
    columns: new Set(cells.filter(({ marked }) => marked).map(({ col }) => col)).size,
  };
}

const widthOf = (hiddenSize: number, numHeads: number) =>
  withLayer(new GroupedQueryAttention({ hiddenSize, numHeads }), ({ headDim }) => headDim);

export const headsAnswers: Answers<typeof headsQuestions> = {
  "own-columns": () => {
    const inputs = { ...defaults, headsDim: 8, headsCount: 4, headsSilent: 0 };
    const own = marks("silence", inputs, "mergedSilent").columns;
    return { answer: own, values: { own, all: marks("silence", inputs, "outputSilent").columns } };
  },
  unnoticed: () => {
    const { count, marked } = marks("view", defaults, "wrong");
    return { answer: marked > 0 ? "numbers" : "error", values: { count, wrong: marked } };
  },
  "head-width": () => {
    const [w8, w16, w32] = [8, 16, 32].map((heads) => widthOf(768, heads));
    const width = widthOf(768, 12);
    return { answer: width, values: { width, w8: w8 ?? NaN, w16: w16 ?? NaN, w32: w32 ?? NaN } };
  },
  "which-is-larger": () => {
    const totals = [8, 64].map((numHeads) => cost.parameters({ modelDim: 512, numHeads }).total);
    const [eight, sixtyFour] = [at(totals, 2, 0, 0), at(totals, 2, 0, 1)];
    const unequal = eight > sixtyFour ? "few" : "many";
    return { answer: eight === sixtyFour ? "same" : unequal, values: { eight, sixtyFour } };
  },
};
