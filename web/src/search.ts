import { glossary, type Term, type TermId } from "./content/glossary.ts";
import { lessons } from "./content/index.ts";
import type { Lesson, Place, Step } from "./content/lesson.ts";
import { type Language, languages, type Text } from "./content/text.ts";

export interface StepFound {
  place: Place;
  lesson: Lesson;
  step: Step;
}

export interface TermFound {
  id: TermId;
  term: Term;
}

export interface Found {
  terms: readonly TermFound[];
  steps: readonly StepFound[];
}

/** As it is compared: without case and without the marks of formulae and emphasis. */
const plain = (text: string) => text.replaceAll(/[$\\*`]/g, "").toLowerCase();

const inAnyLanguage = (text: Text, has: (text: string) => boolean) =>
  languages.some((language) => has(plain(text[language])));

/** 0 for the best match, infinite for none. */
function rank({ name, also = "", meaning }: Term, wanted: string): number {
  const tests = [
    () =>
      inAnyLanguage(name, (text) => text === wanted) ||
      also.split(" ").some((word) => plain(word) === wanted),
    () => inAnyLanguage(name, (text) => text.startsWith(wanted)),
    () => inAnyLanguage(name, (text) => text.includes(wanted)) || plain(also).includes(wanted),
    () => inAnyLanguage(meaning, (text) => text.includes(wanted)),
  ];
  const first = tests.findIndex((test) => test());
  return first < 0 ? Infinity : first;
}

/** Terms in either language, and the steps whose text has the words; every term where nothing is asked. */
export function find(query: string, language: Language): Found {
  const wanted = plain(query.trim());
  const all = (Object.keys(glossary) as TermId[]).map((id): TermFound => ({ id, term: glossary[id] }));
  if (wanted === "") return { terms: all, steps: [] };

  const terms = all
    .map((found) => ({ found, rank: rank(found.term, wanted) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank)
    .map(({ found }) => found);
  const steps = Object.values(lessons).flatMap((lesson) =>
    lesson.steps
      .filter(({ title, body }) => [title, ...body].some((text) => plain(text[language]).includes(wanted)))
      .map((step) => ({ place: { lesson: lesson.id, step: step.id }, lesson, step })),
  );
  return { terms, steps };
}
