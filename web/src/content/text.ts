export const languages = ["zh", "en"] as const;
export type Language = (typeof languages)[number];

/**
 * One text in every language. Inside it $…$ is a formula, *…* is emphasis, `…` is code, and {name}
 * is filled in by whoever shows it.
 */
export type Text = Readonly<Record<Language, string>>;

/** What reads the same in every language: symbols and formulae. */
export const same = (text: string): Text => ({ zh: text, en: text });
