import { type Language, languages, type Text } from "../content/text.ts";
import { keep, stored } from "./storage.ts";
import { store } from "./store.svelte.ts";

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

function storedChoice<Value extends string>(key: string, values: readonly Value[]): Value | undefined {
  const text = stored(key);
  return values.find((value) => value === text);
}

function browserLanguage(): Language {
  const spoken = navigator.languages.map((tag) =>
    languages.find((language) => tag.toLowerCase().startsWith(language)),
  );
  return spoken.find((language) => language !== undefined) ?? "en";
}

class Preferences {
  #language = $state.raw<Language>(storedChoice("language", languages) ?? browserLanguage());
  theme = $state.raw<Theme>(storedChoice("theme", themes) ?? "auto");

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
