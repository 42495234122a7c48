import { cache } from "./cache.ts";
import { changes } from "./changes.ts";
import { candidates, leak } from "./leak.ts";
import { cost, costTerms } from "./cost.ts";
import { formula } from "./formula.ts";
import { glossary } from "./glossary.ts";
import { symbols } from "./symbols.ts";
import { explanations } from "./explanations.ts";
import { formulae, termNames, terms } from "./formulae.ts";
import { heads, headsTerms } from "./heads.ts";
import type { Lesson, LessonId } from "./lesson.ts";
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

function isText(value: object): value is Text {
  return languages.every((language) => language in value);
}

/** The strings of every text inside, in every language. */
function stringsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return isText(value) ? languages.map((language) => value[language]) : Object.values(value).flatMap(stringsOf);
}

/** What a lesson says besides its steps. */
const more: Readonly<Partial<Record<LessonId, object>>> = {
  heads: headsTerms,
  minimind: minimindTerms,
  cost: costTerms,
  leak: { candidates, changes },
};

const lessonStrings = (lesson: Lesson): string[] => [
  ...stringsOf([lesson, more[lesson.id]]),
  ...lesson.steps.flatMap((step) => step.formulae.map(({ id }) => formulae[id])),
];

/** Every string of the page, by what it is loaded with. */
export const strings: Readonly<Record<"page" | "glossary" | LessonId, readonly string[]>> = {
  page: [
    ...stringsOf([terms, termNames, ui, labels, explanations]),
    ...Object.values(symbols).map((tex) => `$${tex}$`),
  ],
  glossary: stringsOf(glossary),
  lookup: lessonStrings(lookup),
  formula: lessonStrings(formula),
  scale: lessonStrings(scale),
  masks: lessonStrings(masks),
  cache: lessonStrings(cache),
  heads: lessonStrings(heads),
  minimind: lessonStrings(minimind),
  cost: lessonStrings(cost),
  leak: lessonStrings(leak),
};
