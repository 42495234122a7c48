import { cache } from "./cache.ts";
import { changes } from "./changes.ts";
import { candidates, leak } from "./leak.ts";
import { cost, costTerms } from "./cost.ts";
import { formula } from "./formula.ts";
import { glossary } from "./glossary.ts";
import { symbols } from "./symbols.ts";
import { explanations } from "./explanations.ts";
import { termNames, terms } from "./formulae.ts";
import { heads, headsTerms } from "./heads.ts";
import type { Lesson, LessonId, Place, Step } from "./lesson.ts";
import { lookup } from "./lookup.ts";
import { minimind, minimindTerms } from "./minimind.ts";
import { masks } from "./masks.ts";
import { labels } from "./labels.ts";
import { languages, type Text } from "./text.ts";
import { scale } from "./scale.ts";
import { ui } from "./ui.ts";

export const lessons: Readonly<Record<LessonId, Lesson>> = {
  lookup,
  formula,
  scale,
  masks,
  cache,
  heads,
  minimind,
  cost,
  leak,
};

/** Every step of every lesson, in reading order. */
export const places: readonly Place[] = Object.values(lessons).flatMap((lesson) =>
  lesson.steps.map((step) => ({ lesson: lesson.id, step: step.id })),
);

export function placeIndex(place: Place): number {
  return places.findIndex(({ lesson, step }) => lesson === place.lesson && step === place.step);
}

export function stepAt({ lesson, step }: Place): Step {
  const found = lessons[lesson].steps.find(({ id }) => id === step);
  if (found === undefined) throw new RangeError(`no step ${step} in lesson ${lesson}`);
  return found;
}

function isText(value: object): value is Text {
  return languages.every((language) => language in value);
}

/** The strings of every text, in every language. */
export function everyText(): string[] {
  const visit = (value: unknown): string[] => {
    if (typeof value !== "object" || value === null) return [];
    return isText(value) ? languages.map((language) => value[language]) : Object.values(value).flatMap(visit);
  };
  const written = Object.values(symbols).map((tex) => `$${tex}$`);
  const texts = visit([
    lessons,
    candidates,
    changes,
    headsTerms,
    minimindTerms,
    costTerms,
    terms,
    termNames,
    ui,
    labels,
    explanations,
    glossary,
  ]);
  return [...texts, ...written];
}
