import { lessonIds, type LessonId, type Place } from "../content/lesson.ts";
import { outline } from "../content/outline.ts";
import { languages, type Language } from "../content/text.ts";
import { choice, type Codec } from "./codec.ts";
import { codecOf, defaults, fitted, inputKeys, type Inputs, sameInput, sameInputs } from "./inputs.ts";

/** What a link holds: where the reader stands, what they changed and, if it was chosen, the language. */
export interface Link {
  place: Place;
  inputs: Inputs;
  language: Language | undefined;
  /** One lesson without the frame around it, to stand in another page. */
  embedded: boolean;
}

/** More than the longest link that writeLink makes. */
const longest = 12000;

const lessonCodec = choice(lessonIds);
const languageCodec = choice(languages);
const embedCodec = choice(["lesson"]);
const firstStep = (lesson: LessonId): string => outline[lesson].steps[0]?.id ?? "";

const firstPlace: Place = { lesson: lessonIds[0], step: firstStep(lessonIds[0]) };

export function writeLink({ place, inputs, language, embedded }: Link): string {
  const query = new URLSearchParams({ lesson: place.lesson, step: place.step });
  if (language !== undefined) query.set("lang", language);
  if (embedded) query.set("embed", "lesson");
  const write = <Key extends keyof Inputs>(key: Key) => {
    if (!sameInput(key, inputs, defaults)) query.set(key, codecOf(key).write(inputs[key]));
  };
  inputKeys.forEach(write);
  return `?${query.toString()}`;
}

/**
 * Reads a link that anybody may have written. What is not understood falls back to its default, and
 * `understood` is then false.
 */
export function readLink(search: string): { link: Link; understood: boolean } {
  const link: Link = { place: firstPlace, inputs: defaults, language: undefined, embedded: false };
  if (search.length > longest) return { link, understood: false };

  const query = new URLSearchParams(search);
  const known = new Set<string>(["lesson", "step", "lang", "embed", ...inputKeys]);
  const keys = [...query.keys()];
  let understood = new Set(keys).size === keys.length && keys.every((key) => known.has(key));

  const read = <Value, Fallback>(key: string, codec: Codec<Value>, fallback: Fallback): Value | Fallback => {
    const text = query.get(key);
    if (text === null) return fallback;
    const value = codec.read(text);
    if (value === undefined) understood = false;
    return value ?? fallback;
  };
  const readInput = <Key extends keyof Inputs>(key: Key) => [key, read(key, codecOf(key), defaults[key])];

  const lesson = read("lesson", lessonCodec, firstPlace.lesson);
  const steps = outline[lesson].steps.map(({ id }) => id);
  const wanted = Object.fromEntries(inputKeys.map(readInput)) as Inputs;
  link.place = { lesson, step: read("step", choice(steps), firstStep(lesson)) };
  link.language = read("lang", languageCodec, undefined);
  link.embedded = read("embed", embedCodec, undefined) !== undefined;
  link.inputs = fitted(wanted);
  return { link, understood: understood && sameInputs(wanted, link.inputs) };
}
