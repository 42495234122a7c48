import type { Explanation, Figure, Grid } from "../compute/figure.ts";
import { lookupFigure } from "../compute/lookup.ts";
import { lookupProgram } from "../compute/programs/lookup.ts";
import type { KeysOf } from "../compute/typed.ts";
import { lookup } from "../content/lookup.ts";
import type { Numbers } from "../state/codec.ts";
import { defaults } from "../state/inputs.ts";

/** A matrix with all that is said of its cells. */
export interface RecordedGrid extends Omit<Grid, "data" | "type" | "explain"> {
  data: readonly number[];
  input?: KeysOf<Numbers>;
  explanations: readonly (readonly Explanation[])[];
}

const recordedGrid = ({ data, type, explain, ...grid }: Grid): RecordedGrid => ({
  ...grid,
  data: Array.from(data),
  ...(type && { input: grid.id as KeysOf<Numbers> }),
  explanations: grid.rows.map((_, row) => grid.cols.map((_, col) => explain(row, col))),
});

const recordedFigure = ({ grids, ...figure }: Figure) => ({ ...figure, grids: grids.map(recordedGrid) });

const [{ id: step }] = lookup.steps;

/** The page's first step, computed by the core while building (see vite.config.ts): the page gets the numbers alone. */
export const recorded = {
  figure: recordedFigure(lookupFigure(step, defaults, () => undefined)),
  program: lookupProgram(step, defaults),
};
