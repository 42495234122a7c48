import { type Language, languages, type Text } from "../content/text.ts";
import { keep, stored } from "./storage.ts";
import { store } from "./store.svelte.ts";

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** As index.html found it, before there was a program: chosen before, or the browser's. */
function readersLanguage(): Language {
  const found = document.documentElement.dataset["reader"];
  return languages.find((language) => language === found) ?? "en";
}

class Preferences {
  #language = $state.raw<Language>(readersLanguage());
  theme = $state.raw<Theme>(themes.find((theme) => theme === stored("theme")) ?? "auto");

  /** A link's language comes before the reader's. */
  readonly language = $derived(store.language ?? this.#language);

  chooseLanguage(language: Language): void {
    this.#language = language;
    store.speak(language);
    keep("language", language);
  }

  chooseTheme(theme: Theme): void {
    this.theme = theme;
    keep("theme", theme);
  }
}

export const preferences = new Preferences();

/** A text in the reader's language, its {names} filled in. */
export function say(text: Text, values: Readonly<Record<string, string | number>> = {}): string {
  return text[preferences.language].replace(/{(\w+)}/g, (name, key: string) => String(values[key] ?? name));
}
