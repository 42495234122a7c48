import { headsAnswers } from "../compute/answers/heads.ts";
import { headsControls, headsFigure, headsListing } from "../compute/heads.ts";
import { headsProgram } from "../compute/programs/heads.ts";
import HeadShapes from "../view/HeadShapes.svelte";
import Listing from "../view/Listing.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: headsFigure,
  listing: headsListing,
  ListingView: Listing,
  controls: headsControls,
  program: headsProgram,
  answers: headsAnswers,
  below: HeadShapes,
} satisfies Experiments;
