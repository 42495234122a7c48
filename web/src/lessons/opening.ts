import { answerTo } from "../compute/answers/answer.ts";
import type { Grid } from "../compute/figure.ts";
import type { Change } from "../compute/typed.ts";
import { outline } from "../content/outline.ts";
import { type Inputs, writer } from "../state/inputs.ts";
import type { Experiments } from "./experiments.ts";
import { recorded, type RecordedGrid } from "./recorded.ts";

/** An input takes what is typed at once; what follows from it waits for the core. */
function gridOf({ input, explanations, ...grid }: RecordedGrid, inputs: Inputs, change: Change): Grid {
  return {
    ...grid,
    ...(input && { data: inputs[input], type: { write: writer(input, grid.cols.length, inputs, change) } }),
    explain: (row, col) => explanations[row]?.[col] ?? { segments: [], lights: [] },
  };
}

/** The page's first step as it was recorded. */
export default {
  figure: (_, inputs, change) => ({
    ...recorded.figure,
    grids: recorded.figure.grids.map((grid) => gridOf(grid, inputs, change)),
  }),
  program: () => recorded.program,
  answers: Object.fromEntries(
    outline.lookup.questions.map((id) => [
      id,
      async () => {
        const { default: experiments } = await import("./lookup.ts");
        return answerTo({ id }, experiments.answers);
      },
    ]),
  ),
} satisfies Experiments;
