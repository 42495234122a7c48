import { lookupAnswers } from "../compute/answers/lookup.ts";
import { lookupControls, lookupFigure, lookupPlots } from "../compute/lookup.ts";
import { lookupProgram } from "../compute/programs/lookup.ts";
import type { Experiments } from "./experiments.ts";

export default {
  figure: lookupFigure,
  plots: lookupPlots,
  controls: lookupControls,
  program: lookupProgram,
  answers: lookupAnswers,
} satisfies Experiments;
