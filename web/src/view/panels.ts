import type { Component } from "svelte";
import type { LessonId } from "../content/lesson.ts";
import CostRuns from "./CostRuns.svelte";
import MinimindPictures from "./minimind/Pictures.svelte";
import Outcome from "./Outcome.svelte";
import CacheCost from "./CacheCost.svelte";
import CacheOutcome from "./CacheOutcome.svelte";
import Reports from "./Reports.svelte";
import ScalePlots from "./ScalePlots.svelte";

/** What a lesson shows besides its matrices: above them and below. */
interface Panels {
  above?: Component;
  below?: Component;
}

export const panels: Readonly<Partial<Record<LessonId, Panels>>> = {
  scale: { below: ScalePlots },
  cache: { above: CacheOutcome, below: CacheCost },
  cost: { below: CostRuns },
  minimind: { above: MinimindPictures },
  leak: { above: Outcome, below: Reports },
};
