import type { Component } from "svelte";
import type { AnswerTable } from "../compute/answers/answer.ts";
import type { Control } from "../compute/controls.ts";
import type { Figure } from "../compute/figure.ts";
import type { Listing } from "../compute/listing.ts";
import type { Plot } from "../compute/plot.ts";
import type { Program } from "../compute/programs/program.ts";
import type { Change } from "../compute/typed.ts";
import type { Inputs } from "../state/inputs.ts";

/** What a lesson computes and shows, step by step: every function is given the id of the step. */
export interface Experiments {
  /** The matrices. */
  figure(step: string, inputs: Inputs, change: Change): Figure | undefined;
  /** The table of facts. */
  listing?(step: string, inputs: Inputs): Listing | undefined;
  /** Comes with the lessons that have one. */
  ListingView?: Component<{ listing: Listing }>;
  /** The plots that take no time to compute. */
  plots?(step: string, inputs: Inputs): readonly Plot[];
  /** The settings. */
  controls?(step: string, inputs: Inputs): readonly Control[];
  /** The computation, where it is one that can be copied. */
  program?(step: string, inputs: Inputs): Program | undefined;
  answers: AnswerTable;
  /** Above the matrices, beside them where there is room, and below. */
  above?: Component<{ step: string }>;
  beside?: Component<{ step: string }>;
  below?: Component<{ step: string }>;
}
