import "virtual:math/scale";
import { scaleAnswers } from "../compute/answers/scale.ts";
import { scaleControls, scaleFigure } from "../compute/scale.ts";
import { scale } from "../content/scale.ts";
import ScalePlots from "../view/ScalePlots.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: scale,
  figure: scaleFigure,
  controls: scaleControls,
  answers: scaleAnswers,
  below: ScalePlots,
} satisfies LessonParts;
