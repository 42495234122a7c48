import "virtual:math/heads";
import { headsAnswers } from "../compute/answers/heads.ts";
import { headsControls, headsFigure, headsListing } from "../compute/heads.ts";
import { heads } from "../content/heads.ts";
import type { LessonParts } from "./parts.ts";

export default {
  content: heads,
  figure: headsFigure,
  listing: headsListing,
  controls: headsControls,
  answers: headsAnswers,
} satisfies LessonParts;
