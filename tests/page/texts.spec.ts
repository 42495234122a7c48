import { readdir, readFile } from "node:fs/promises";
import { chapter } from "../../web/src/content/chapter.ts";
import { changes } from "../../web/src/content/changes.ts";
import { explanations } from "../../web/src/content/explanations.ts";
import { formulae } from "../../web/src/content/formulae.ts";
import { glossary } from "../../web/src/content/glossary.ts";
import { lessons, lessonTerms, tex } from "../../web/src/content/index.ts";
import { labels } from "../../web/src/content/labels.ts";
import { candidates } from "../../web/src/content/leak.ts";
import { peerWork } from "../../web/src/content/peers.ts";
import { termNames, terms } from "../../web/src/content/terms.ts";
import { languages, type Text } from "../../web/src/content/text.ts";
import { ui } from "../../web/src/content/ui.ts";
import { expect, test } from "./fixtures.ts";

const web = new URL("../../web/src/", import.meta.url);

/** All sources of the page but the texts themselves. */
async function sources(): Promise<string> {
  const names = await readdir(web, { recursive: true });
  const code = names.filter((name) => /\.(ts|svelte)$/.test(name) && !name.startsWith("content/"));
  const files = [...code, "content/strips.ts", "content/index.ts"];
  return (await Promise.all(files.map((name) => readFile(new URL(name, web), "utf8")))).join("\n");
}

/** Every object that has a text in some language, with the path to it. */
function texts(value: unknown, path: string): [string, Partial<Text>][] {
  if (typeof value !== "object" || value === null) return [];
  if (languages.some((language) => language in value)) return [[path, value as Partial<Text>]];
  return Object.entries(value).flatMap(([key, inner]) => texts(inner, `${path}.${key}`));
}

const all = [
  ...texts(lessons, "lessons"),
  ...texts(candidates, "candidates"),
  ...texts(lessonTerms, "lessonTerms"),
  ...texts(changes, "changes"),
  ...texts(peerWork, "peerWork"),
  ...texts(ui, "ui"),
  ...texts(labels, "labels"),
  ...texts(explanations, "explanations"),
  ...texts(terms, "terms"),
  ...texts(termNames, "termNames"),
  ...texts(glossary, "glossary"),
];

test("every text is there in both languages", () => {
  expect(all.length).toBeGreaterThan(150);
  for (const [path, text] of all) {
    expect(Object.keys(text).sort(), path).toEqual([...languages].sort());
    for (const language of languages) expect(text[language]?.trim(), `${path}.${language}`).not.toBe("");
  }
});

test("no sentence was left in the other language", () => {
  for (const [path, { zh = "", en = "" }] of all) {
    expect(en, path).not.toMatch(/\p{Script=Han}/u);
    if (zh !== en && /[a-z]{4,}/.test(en.replaceAll(/\$[^$]*\$|`[^`]*`|{\w+}/g, ""))) {
      expect(zh, path).toMatch(/\p{Script=Han}|NaN/u);
    }
  }
});

test("both languages hold the same formulae and the same blanks to fill in", () => {
  const parts = (text: string) => (text.match(/\$[^$]+\$|{\w+}/g) ?? []).sort();
  for (const [path, { zh = "", en = "" }] of all) {
    // A formula may be named once more in one language; none may be missing from it.
    expect(new Set(parts(zh)), path).toEqual(new Set(parts(en)));
  }
});

test("Chinese is set with full-width punctuation, and no space beside it; no text has two spaces", () => {
  for (const [path, { zh = "", en = "" }] of all) {
    expect(zh, path).not.toMatch(/[，。、；：？！）”]\s|\s[，。、；：？！（“]/);
    // Formulae, code and pairs of numbers keep their own.
    const prose = zh.replaceAll(/\$[^$]*\$|`[^`]*`|\([^\p{Script=Han}()]*\)/gu, "x");
    expect(prose, path).not.toMatch(/\p{Script=Han}\s*[,.;:?!()]|[,;:?!()]\s*\p{Script=Han}/u);
    for (const text of [zh, en]) expect(text, path).not.toMatch(/ {2}/);
  }
});

test("no text is unused", async () => {
  const code = await sources();
  for (const [name, table] of Object.entries({ ui, labels, explanations, ...lessonTerms })) {
    for (const key of Object.keys(table)) {
      expect(new RegExp(`\\b${name}\\.${key}\\b`).test(code), `${name}.${key}`).toBe(true);
    }
  }
});

test("every step of the chapter’s table is a step of a lesson", () => {
  for (const [lesson, steps] of Object.entries(chapter)) {
    const known = lessons[lesson as keyof typeof lessons].steps.map(({ id }) => id);
    for (const step of Object.keys(steps)) expect(known).toContain(step);
  }
});

test("no formula of any text is left out of what is rendered while building", () => {
  const built = new Set(Object.values(tex).flatMap((group) => Object.keys(group)));
  for (const [path, text] of all) {
    for (const language of languages) {
      for (const [, formula] of text[language]?.matchAll(/\$([^$]+)\$/g) ?? []) {
        expect(built, `${path}.${language}`).toContain(formula);
      }
    }
  }
  for (const { id, steps } of Object.values(lessons)) {
    for (const formula of steps.flatMap((step) => step.formulae)) {
      expect(tex[id][formula.id]).toBe(formulae[formula.id]);
    }
  }
});

test("a lesson’s formulae come with the lesson or with the page", () => {
  for (const [id, lesson] of Object.entries(lessons)) {
    const here = { ...tex.page, ...tex[id as keyof typeof lessons] };
    for (const [path, { en = "" }] of texts(lesson, id)) {
      for (const [, formula = ""] of en.matchAll(/\$([^$]+)\$/g)) expect(here[formula], path).toBe(formula);
    }
  }
});
