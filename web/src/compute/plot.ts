import type { Text } from "../content/text.ts";

export interface Axis {
  /** With its unit. */
  label: Text;
  /** Base of a logarithmic axis; linear without. */
  log?: 2 | 10;
  /** What the axis reaches at least. */
  from?: number;
  to?: number;
}

/** Told apart by shape: a dashed line for theory, a mark of its own for each kind of measurement. */
export interface Series {
  name: Text;
  /** What fills in the blanks of the name. */
  values?: Readonly<Record<string, number>>;
  points: readonly (readonly [x: number, y: number])[];
  /** Series that belong together have the same. */
  tone?: 0 | 1 | 2 | 3;
  line?: "solid" | "dashed";
  /** The line stays level up to the next point. */
  stepped?: true;
  mark?: "circle" | "square" | "cross";
}

/** Numbers against numbers. All series stand on the same x, those that a series lacks left out. */
export interface Plot {
  id: string;
  title: Text;
  x: Axis;
  y: Axis;
  series: readonly Series[];
  /** Where the setting in force stands on the x axis. */
  here?: number;
}
