import { minimindAnswers } from "../compute/answers/minimind.ts";
import { minimindControls, minimindListing } from "../compute/minimind-facts.ts";
import { minimindFigure } from "../compute/minimind-figures.ts";
import { minimindProgram } from "../compute/programs/minimind.ts";
import Pictures from "../view/minimind/Pictures.svelte";
import Listing from "../view/Listing.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: minimindFigure,
  listing: minimindListing,
  ListingView: Listing,
  controls: minimindControls,
  program: minimindProgram,
  answers: minimindAnswers,
  above: Pictures,
} satisfies Experiments;
