import type { Place } from "../content/lesson.ts";
import type { Inputs } from "../state/inputs.ts";
import type { Figure } from "./figure.ts";
import { type Change, formulaFigure } from "./formula.ts";
import { headsFigure, headsListing } from "./heads.ts";
import { leakFigure } from "./leak.ts";
import type { Listing } from "./listing.ts";
import { masksFigure } from "./masks.ts";

/** The matrices of a step, where it has any. */
export function figureFor({ lesson, step }: Place, inputs: Inputs, change: Change): Figure | undefined {
  switch (lesson) {
    case "formula":
      return formulaFigure(step, inputs, change);
    case "masks":
      return masksFigure(step, inputs, change);
    case "heads":
      return headsFigure(step, inputs, change);
    case "leak":
      return leakFigure(step, inputs, change);
  }
}

/** The table of facts of a step, where it has one. */
export function listingFor({ lesson, step }: Place, inputs: Inputs): Listing | undefined {
  switch (lesson) {
    case "heads":
      return headsListing(step, inputs);
    default:
      return undefined;
  }
}
