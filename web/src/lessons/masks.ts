import { masksAnswers } from "../compute/answers/masks.ts";
import { masksFigure } from "../compute/masks.ts";
import { masksProgram } from "../compute/programs/masks.ts";
import Chapter from "../view/Chapter.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: masksFigure,
  program: masksProgram,
  answers: masksAnswers,
  beside: Chapter,
} satisfies Experiments;
