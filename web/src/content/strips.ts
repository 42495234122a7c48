import type { LessonId, Place, Step, StripKind, Term } from "./lesson.ts";

export interface StripItem {
  term: Term;
  /** Where a click leads. */
  to: Place;
  flaw?: "aside" | "missing" | "misplaced";
}

/** The step that shows an operation, but for what the masks lesson has of its own. */
const shownIn: Readonly<Record<Term, Place>> = {
  inputs: { lesson: "formula", step: "inputs" },
  scores: { lesson: "formula", step: "scores" },
  scaled: { lesson: "formula", step: "scaled" },
  mask: { lesson: "masks", step: "causal" },
  softmax: { lesson: "formula", step: "row-max" },
  output: { lesson: "formula", step: "output" },
  project: { lesson: "heads", step: "project" },
  split: { lesson: "heads", step: "split" },
  attend: { lesson: "heads", step: "attend" },
  concat: { lesson: "heads", step: "concat" },
  mix: { lesson: "heads", step: "mix" },
  given: { lesson: "minimind", step: "x" },
  projections: { lesson: "minimind", step: "project" },
  cut: { lesson: "minimind", step: "view" },
  turn: { lesson: "minimind", step: "norm" },
  past: { lesson: "minimind", step: "cache" },
  repeat: { lesson: "minimind", step: "repeat" },
  weigh: { lesson: "minimind", step: "scores" },
  home: { lesson: "minimind", step: "home" },
};

/** The steps of the masks lesson that show an operation, for each of its parts. */
const masks: Readonly<Record<string, Partial<Record<Term, string>>>> = {
  padding: { mask: "padding-masked", softmax: "padding-weights" },
  causal: { mask: "causal", softmax: "causal-weights", output: "causal-output" },
  both: { mask: "both", softmax: "both-weights", output: "both-weights" },
  wrong: { mask: "wrong-row", softmax: "wrong-row" },
};

const orders: Readonly<Record<StripKind, readonly Term[]>> = {
  plain: ["inputs", "scores", "scaled", "mask", "softmax", "output"],
  masked: ["inputs", "scores", "scaled", "mask", "softmax", "output"],
  unmasked: ["inputs", "scores", "scaled", "mask", "softmax", "output"],
  afterSoftmax: ["inputs", "scores", "scaled", "softmax", "mask", "output"],
  heads: ["project", "split", "attend", "concat", "mix"],
  minimind: ["given", "projections", "cut", "turn", "past", "repeat", "weigh", "home"],
};

const maskFlaws: Readonly<Record<StripKind, StripItem["flaw"]>> = {
  plain: "aside",
  masked: undefined,
  unmasked: "missing",
  afterSoftmax: "misplaced",
  heads: undefined,
  minimind: undefined,
};

/** The operations in the order of a step, each with the place that shows it; none without a strip. */
export function stripOf(lesson: LessonId, { strip, part = "causal" }: Step): readonly StripItem[] {
  if (strip === undefined) return [];
  const target = (term: Term): Place => {
    const inMasks = lesson === "masks" || term === "mask" ? masks[part]?.[term] : undefined;
    return inMasks === undefined ? shownIn[term] : { lesson: "masks", step: inMasks };
  };
  const flaw = maskFlaws[strip];
  return orders[strip].map((term) => ({ term, to: target(term), ...(term === "mask" && flaw && { flaw }) }));
}
