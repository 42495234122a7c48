import { attentionTimes } from "./attention-times.ts";
import { decodeTimes } from "./decode-times.ts";
import { dotProducts } from "./dot-products.ts";
import { headShapes } from "./head-shapes.ts";
import { leakChecks } from "./leak-checks.ts";
import { peakMemory } from "./peak-memory.ts";
import { printouts } from "./printouts.ts";
import { saturation } from "./saturation.ts";

/** What the worker can do: each job yields its findings one by one. It runs to its end or is cut off. */
export const jobs = {
  dotProducts,
  saturation,
  decodeTimes,
  attentionTimes,
  peakMemory,
  leakChecks,
  headShapes,
  printouts,
};

type Jobs = typeof jobs;
export type JobName = keyof Jobs;
export type Input<Name extends JobName> = Parameters<Jobs[Name]>[0];
export type Found<Name extends JobName> =
  ReturnType<Jobs[Name]> extends Iterable<infer Finding> | AsyncIterable<infer Finding> ? Finding : never;
