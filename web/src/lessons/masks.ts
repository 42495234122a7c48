import "virtual:math/masks";
import { masksAnswers } from "../compute/answers/masks.ts";
import { masksFigure } from "../compute/masks.ts";
import { masksProgram } from "../compute/programs/masks.ts";
import { masks } from "../content/masks.ts";
import Chapter from "../view/Chapter.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: masks,
  figure: masksFigure,
  program: masksProgram,
  answers: masksAnswers,
  beside: Chapter,
} satisfies LessonParts;
