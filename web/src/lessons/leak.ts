import { leakAnswers } from "../compute/answers/leak.ts";
import { leakControls, leakFigure } from "../compute/leak.ts";
import { leakProgram } from "../compute/programs/leak.ts";
import Outcome from "../view/Outcome.svelte";
import Reports from "../view/Reports.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: leakFigure,
  controls: leakControls,
  program: leakProgram,
  answers: leakAnswers,
  above: Outcome,
  below: Reports,
} satisfies Experiments;
