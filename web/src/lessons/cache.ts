import { cacheAnswers } from "../compute/answers/cache.ts";
import { cacheControls, cacheFigure, cachePlots } from "../compute/cache.ts";
import { cacheProgram } from "../compute/programs/cache.ts";
import CacheCost from "../view/CacheCost.svelte";
import CacheOutcome from "../view/CacheOutcome.svelte";
import type { Experiments } from "./experiments.ts";

export default {
  figure: cacheFigure,
  plots: cachePlots,
  controls: cacheControls,
  program: cacheProgram,
  answers: cacheAnswers,
  above: CacheOutcome,
  below: CacheCost,
} satisfies Experiments;
