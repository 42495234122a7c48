import "virtual:math/cost";
import { costAnswers } from "../compute/answers/cost.ts";
import { costControls, costFigure, costListing, costPlots } from "../compute/cost.ts";
import { cost } from "../content/cost.ts";
import CostRuns from "../view/CostRuns.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: cost,
  figure: costFigure,
  listing: costListing,
  plots: costPlots,
  controls: costControls,
  answers: costAnswers,
  below: CostRuns,
} satisfies LessonParts;
