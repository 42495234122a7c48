import type { Place } from "../content/lesson.ts";
import type { Inputs } from "../state/inputs.ts";
import { costFigure, costListing, costPlots } from "./cost.ts";
import type { Figure } from "./figure.ts";
import { headsFigure, headsListing } from "./heads.ts";
import { formulaFigure } from "./formula.ts";
import type { Listing } from "./listing.ts";
import { leakFigure } from "./leak.ts";
import { lookupFigure, lookupPlots } from "./lookup.ts";
import { masksFigure } from "./masks.ts";
import { minimindListing } from "./minimind-facts.ts";
import { minimindFigure } from "./minimind-figures.ts";
import type { Plot } from "./plot.ts";
import { scaleFigure } from "./scale.ts";
import { cacheFigure, cachePlots } from "./cache.ts";
import type { Change } from "./typed.ts";

/** The matrices of a step, where it has any. */
export function figureFor({ lesson, step }: Place, inputs: Inputs, change: Change): Figure | undefined {
  switch (lesson) {
    case "lookup":
      return lookupFigure(step, inputs, change);
    case "formula":
      return formulaFigure(step, inputs, change);
    case "scale":
      return scaleFigure(step, inputs, change);
    case "cache":
      return cacheFigure(step, inputs);
    case "masks":
      return masksFigure(step, inputs, change);
    case "heads":
      return headsFigure(step, inputs, change);
    case "minimind":
      return minimindFigure(step, inputs, change);
    case "cost":
      return costFigure(step, inputs);
    case "leak":
      return leakFigure(step, inputs, change);
  }
}

/** The table of facts of a step, where it has one. */
export function listingFor({ lesson, step }: Place, inputs: Inputs): Listing | undefined {
  switch (lesson) {
    case "heads":
      return headsListing(step, inputs);
    case "minimind":
      return minimindListing(step, inputs);
    case "cost":
      return costListing(step, inputs);
    default:
      return undefined;
  }
}

/** The plots of a step that take no time to compute. */
export function plotsFor({ lesson, step }: Place, inputs: Inputs): readonly Plot[] {
  switch (lesson) {
    case "lookup":
      return lookupPlots(step, inputs);
    case "cache":
      return cachePlots(step, inputs);
    case "cost":
      return costPlots(step, inputs);
    default:
      return [];
  }
}
