import type { FormulaId, FormulaTerm } from "./formulae.ts";
import type { Question } from "./question.ts";
import type { Text } from "./text.ts";

export const lessonIds = [
  "lookup",
  "formula",
  "scale",
  "masks",
  "cache",
  "heads",
  "minimind",
  "cost",
  "leak",
] as const;
export type LessonId = (typeof lessonIds)[number];

/** A place in the page: a step of a lesson. */
export interface Place {
  lesson: LessonId;
  step: string;
}

/** The operations of attention, as they stand in the strip above each computation. */
export type Term =
  | "inputs"
  | "scores"
  | "scaled"
  | "mask"
  | "softmax"
  | "output"
  /** The operations of a layer of heads. */
  | "project"
  | "split"
  | "attend"
  | "concat"
  | "mix"
  /** The steps of MiniMind's forward. */
  | "given"
  | "projections"
  | "cut"
  | "turn"
  | "past"
  | "repeat"
  | "weigh"
  | "home";

/**
 * How the strip is laid: attention with the mask where it belongs, beside the point, left out, or too
 * late; a layer of heads; or the steps of MiniMind.
 */
export type StripKind = "masked" | "plain" | "unmasked" | "afterSoftmax" | "heads" | "minimind";

export interface Step {
  id: string;
  /** Which part of the lesson the step belongs to, where a lesson has parts. */
  part?: string;
  title: Text;
  body: readonly Text[];
  /** Something for the reader to do. */
  task?: Text;
  formulae: readonly { id: FormulaId; lit: readonly FormulaTerm[] }[];
  /** Left out where a lesson is not about one attention from end to end. */
  strip?: StripKind;
  at?: Term | undefined;
}

export interface Source {
  text: Text;
  url?: string;
}

export interface Lesson {
  id: LessonId;
  title: Text;
  /** The question that the lesson answers. */
  question: Text;
  lede: Text;
  sources: readonly Source[];
  parts?: Readonly<Record<string, Text>>;
  steps: readonly Step[];
  /** Predict, then check. */
  questions?: readonly Question[];
  /** What was seen, at the end. */
  seen: readonly Text[];
  /** Experiments that are not there yet. */
  later?: readonly Text[];
}
