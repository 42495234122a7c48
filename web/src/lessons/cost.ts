import { costAnswers } from "../compute/answers/cost.ts";
import { costControls, costFigure, costListing, costPlots } from "../compute/cost.ts";
import { costProgram } from "../compute/programs/cost.ts";
import CostRuns from "../view/CostRuns.svelte";
import Listing from "../view/Listing.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: costFigure,
  listing: costListing,
  ListingView: Listing,
  plots: costPlots,
  controls: costControls,
  program: costProgram,
  answers: costAnswers,
  below: CostRuns,
} satisfies Experiments;
