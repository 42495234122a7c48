import { formulaAnswers } from "../compute/answers/formula.ts";
import { formulaFigure } from "../compute/formula.ts";
import { formulaProgram } from "../compute/programs/formula.ts";
import Chapter from "../view/Chapter.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: formulaFigure,
  program: formulaProgram,
  answers: formulaAnswers,
  beside: Chapter,
} satisfies Experiments;
