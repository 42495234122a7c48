import { lessons } from "../content/index.ts";
import { faults } from "../content/leak.ts";
import { lessonIds, type LessonId, type Place } from "../content/lesson.ts";
import { languages, type Language } from "../content/text.ts";
import {
  type Bits,
  defaults,
  type Edit,
  fitted,
  type Inputs,
  limits,
  type Numbers,
  parseNumber,
} from "./inputs.ts";

/** What a link holds: where the reader stands, what they changed and, if it was chosen, the language. */
export interface Link {
  place: Place;
  inputs: Inputs;
  language: Language | undefined;
}

/** Undefined when read from a text that means nothing. */
interface Codec<Value> {
  read(text: string): Value | undefined;
  write(value: Value): string;
}

/** More than the longest link that writeLink makes. */
const longest = 6000;

// Only characters that a query string leaves as they are: letters, digits and * - . _

const writeNumber = (value: number) => String(value).replace("+", "");

const numbers = (count: number): Codec<Numbers> => ({
  read(text) {
    const values = text.split("_").map(parseNumber);
    return values.length === count && values.every((value) => value !== undefined) ? values : undefined;
  },
  write: (values) => values.map(writeNumber).join("_"),
});

const bits = (count: number): Codec<Bits> => ({
  read: (text) =>
    /^[01]+$/.test(text) && text.length === count ? [...text].map((bit) => bit === "1") : undefined,
  write: (values) => values.map((bit) => (bit ? "1" : "0")).join(""),
});

const integer = (low: number, high: number, step = 1): Codec<number> => ({
  read(text) {
    const value = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
    return value >= low && value <= high && value % step === 0 ? value : undefined;
  },
  write: String,
});

const choice = <Value extends string>(values: readonly Value[]): Codec<Value> => ({
  read: (text) => values.find((value) => value === text),
  write: (value) => value,
});

const edits: Codec<readonly Edit[]> = {
  read(text) {
    const read = text.split("_").map((part) => {
      const [, row, col, number] = /^(\d)\*(\d)\*([^*]+)$/.exec(part) ?? [];
      const value = number === undefined ? undefined : parseNumber(number);
      return value === undefined ? undefined : { row: Number(row), col: Number(col), value };
    });
    return read.every((edit) => edit !== undefined) ? read : undefined;
  },
  write: (values) => values.map(({ row, col, value }) => `${row}*${col}*${writeNumber(value)}`).join("_"),
};

const codecs: { readonly [Key in keyof Inputs]: Codec<Inputs[Key]> } = {
  q: numbers(8),
  k: numbers(8),
  v: numbers(8),
  scores: numbers(4),
  keep: bits(4),
  mask: bits(16),
  padding: bits(4),
  length: integer(...limits.length),
  dim: integer(...limits.dim, 2),
  seed: integer(...limits.seed),
  cut: integer(0, limits.length[1]),
  tokens: edits,
  future: edits,
  fault: choice(faults),
};
const inputKeys = Object.keys(codecs) as (keyof Inputs)[];

const lessonCodec = choice(lessonIds);
const languageCodec = choice(languages);
const firstStep = (lesson: LessonId): string => lessons[lesson].steps[0]?.id ?? "";

const firstPlace: Place = { lesson: "formula", step: firstStep("formula") };

export function sameInput<Key extends keyof Inputs>(key: Key, one: Inputs, other: Inputs): boolean {
  return codecs[key].write(one[key]) === codecs[key].write(other[key]);
}

export function sameInputs(one: Inputs, other: Inputs): boolean {
  return inputKeys.every((key) => sameInput(key, one, other));
}

export function writeLink({ place, inputs, language }: Link): string {
  const query = new URLSearchParams({ lesson: place.lesson, step: place.step });
  if (language !== undefined) query.set("lang", language);
  const write = <Key extends keyof Inputs>(key: Key) => {
    if (!sameInput(key, inputs, defaults)) query.set(key, codecs[key].write(inputs[key]));
  };
  inputKeys.forEach(write);
  return `?${query.toString()}`;
}

/**
 * Reads a link that anybody may have written. What is not understood falls back to its default, and
 * `understood` is then false.
 */
export function readLink(search: string): { link: Link; understood: boolean } {
  const link: Link = { place: firstPlace, inputs: defaults, language: undefined };
  if (search.length > longest) return { link, understood: false };

  const query = new URLSearchParams(search);
  const known = new Set<string>(["lesson", "step", "lang", ...inputKeys]);
  const keys = [...query.keys()];
  let understood = new Set(keys).size === keys.length && keys.every((key) => known.has(key));

  const read = <Value, Fallback>(key: string, codec: Codec<Value>, fallback: Fallback): Value | Fallback => {
    const text = query.get(key);
    if (text === null) return fallback;
    const value = codec.read(text);
    if (value === undefined) understood = false;
    return value ?? fallback;
  };
  const readInput = <Key extends keyof Inputs>(key: Key): Pick<Inputs, Key> =>
    ({ [key]: read(key, codecs[key], defaults[key]) }) as Pick<Inputs, Key>;

  const lesson = read("lesson", lessonCodec, firstPlace.lesson);
  const steps = lessons[lesson].steps.map(({ id }) => id);
  const wanted = inputKeys.reduce<Inputs>((inputs, key) => ({ ...inputs, ...readInput(key) }), defaults);
  link.place = { lesson, step: read("step", choice(steps), firstStep(lesson)) };
  link.language = read("lang", languageCodec, undefined);
  link.inputs = fitted(wanted);
  return { link, understood: understood && sameInputs(wanted, link.inputs) };
}
