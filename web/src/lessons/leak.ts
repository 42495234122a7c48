import "virtual:math/leak";
import { leakAnswers } from "../compute/answers/leak.ts";
import { leakControls, leakFigure } from "../compute/leak.ts";
import { leakProgram } from "../compute/programs/leak.ts";
import { leak } from "../content/leak.ts";
import Outcome from "../view/Outcome.svelte";
import Reports from "../view/Reports.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: leak,
  figure: leakFigure,
  controls: leakControls,
  program: leakProgram,
  answers: leakAnswers,
  above: Outcome,
  below: Reports,
} satisfies LessonParts;
