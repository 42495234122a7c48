/**
 * What the course's chapter 5 prints, digit for digit (§2.4, §3.1), first row first.
 * Shown beside the exact numbers as long as the inputs are the chapter's own.
 */
type Printed = readonly (readonly string[])[];

const row = (...cells: string[]): readonly string[] => cells;

export const chapter: Readonly<Record<string, Readonly<Record<string, Printed>>>> = {
  formula: {
    scores: [
      row("2.0", "1.0", "1.0", "1.0"),
      row("1.0", "1.0", "0.0", "0.5"),
      row("1.0", "0.0", "1.0", "0.5"),
      row("1.0", "0.5", "0.5", "0.5"),
    ],
    scaled: [
      row("1.41", "0.71", "0.71", "0.71"),
      row("0.71", "0.71", "0.00", "0.35"),
      row("0.71", "0.00", "0.71", "0.35"),
      row("0.71", "0.35", "0.35", "0.35"),
    ],
    weights: [row("0.40", "0.20", "0.20", "0.20")],
    output: [row("0.70", "0.50")],
  },
  masks: {
    "padding-masked": [row("3.0", "0.5", "−∞", "−∞")],
    "padding-weights": [row("0.92", "0.08", "0", "0")],
  },
};
