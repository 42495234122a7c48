import "virtual:math/minimind";
import { minimindAnswers } from "../compute/answers/minimind.ts";
import { minimindControls, minimindListing } from "../compute/minimind-facts.ts";
import { minimindFigure } from "../compute/minimind-figures.ts";
import { minimind } from "../content/minimind.ts";
import Pictures from "../view/minimind/Pictures.svelte";
import type { LessonParts } from "./parts.ts";

export default {
  content: minimind,
  figure: minimindFigure,
  listing: minimindListing,
  controls: minimindControls,
  answers: minimindAnswers,
  above: Pictures,
} satisfies LessonParts;
