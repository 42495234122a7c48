import "virtual:math/lookup";
import { lookupAnswers } from "../compute/answers/lookup.ts";
import { lookupControls, lookupFigure, lookupPlots } from "../compute/lookup.ts";
import { lookupProgram } from "../compute/programs/lookup.ts";
import { lookup } from "../content/lookup.ts";
import type { LessonParts } from "./parts.ts";

export default {
  content: lookup,
  figure: lookupFigure,
  plots: lookupPlots,
  controls: lookupControls,
  program: lookupProgram,
  answers: lookupAnswers,
} satisfies LessonParts;
