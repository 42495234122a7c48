import { cache, cacheTerms } from "./cache.ts";
import { changes } from "./changes.ts";
import { candidates, leak, leakTerms } from "./leak.ts";
import { cost, costTerms } from "./cost.ts";
import { formula } from "./formula.ts";
import { glossary } from "./glossary.ts";
import { symbols } from "./symbols.ts";
import { explanations } from "./explanations.ts";
import { formulae } from "./formulae.ts";
import { termNames, terms } from "./terms.ts";
import { heads, headsTerms } from "./heads.ts";
import type { Lesson, LessonId } from "./lesson.ts";
import { lookup, lookupTerms } from "./lookup.ts";
import { minimind, minimindLabels, minimindTerms } from "./minimind.ts";
import { masks } from "./masks.ts";
import { peerTerms, peerWork } from "./peers.ts";
import { labels } from "./labels.ts";
import { languages, type Text } from "./text.ts";
import { scale, scaleTerms } from "./scale.ts";
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

/** What the lessons say besides their steps. */
export const lessonTerms = {
  lookupTerms,
  scaleTerms,
  cacheTerms,
  headsTerms,
  minimindTerms,
  minimindLabels,
  costTerms,
  peerTerms,
  leakTerms,
};

function isText(value: object): value is Text {
  return languages.every((language) => language in value);
}

/** The strings of every text inside, in every language. */
function stringsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return isText(value)
    ? languages.map((language) => value[language])
    : Object.values(value).flatMap(stringsOf);
}

type Tex = Readonly<Record<string, string>>;

const under = (sources: readonly string[]): Tex => Object.fromEntries(sources.map((tex) => [tex, tex]));

/** The formulae inside of texts: $…$. */
const inTexts = (...texts: readonly unknown[]): Tex =>
  under(stringsOf(texts).flatMap((text) => [...text.matchAll(/\$([^$]+)\$/g)].map(([, tex = ""]) => tex)));

const ofLesson = (lesson: Lesson, ...more: readonly unknown[]): Tex => ({
  ...inTexts(lesson, ...more),
  ...Object.fromEntries(lesson.steps.flatMap((step) => step.formulae.map(({ id }) => [id, formulae[id]]))),
});

/** Every formula, in groups that are loaded together, under what the page knows it by: its id, or its TeX. */
export const tex: Readonly<Record<"page" | "glossary" | LessonId, Tex>> = {
  page: { ...inTexts(terms, termNames, ui, labels, explanations), ...under(Object.values(symbols)) },
  glossary: inTexts(glossary),
  lookup: ofLesson(lookup, lookupTerms),
  formula: ofLesson(formula),
  scale: ofLesson(scale, scaleTerms),
  masks: ofLesson(masks),
  cache: ofLesson(cache, cacheTerms),
  heads: ofLesson(heads, headsTerms),
  minimind: ofLesson(minimind, minimindTerms, minimindLabels),
  cost: ofLesson(cost, costTerms, peerWork),
  leak: ofLesson(leak, leakTerms, candidates, changes),
};
