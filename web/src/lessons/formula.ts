import "virtual:math/formula";
import { formulaAnswers } from "../compute/answers/formula.ts";
import { formulaFigure } from "../compute/formula.ts";
import { formulaProgram } from "../compute/programs/formula.ts";
import { formula } from "../content/formula.ts";
import Chapter from "../view/Chapter.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: formula,
  figure: formulaFigure,
  program: formulaProgram,
  answers: formulaAnswers,
  beside: Chapter,
} satisfies LessonParts;
