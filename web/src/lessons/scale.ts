import { scaleAnswers } from "../compute/answers/scale.ts";
import { scaleControls, scaleFigure } from "../compute/scale.ts";
import { scaleProgram } from "../compute/programs/scale.ts";
import ScalePlots from "../view/ScalePlots.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: scaleFigure,
  controls: scaleControls,
  program: scaleProgram,
  answers: scaleAnswers,
  below: ScalePlots,
} satisfies Experiments;
