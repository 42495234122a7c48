/** How an input stands in a link. `read` gives undefined for a text that means nothing. */
export interface Codec<Value> {
  read(text: string): Value | undefined;
  write(value: Value): string;
}

/** Something that a reader can change: what it is at first, and how a link holds it. */
export interface Field<Value> {
  initial: Value;
  codec: Codec<Value>;
}

export const field = <Value>(initial: Value, codec: Codec<Value>): Field<Value> => ({ initial, codec });

export type Numbers = readonly number[];
export type Bits = readonly boolean[];

/** A number typed over a drawn one. */
export interface Edit {
  row: number;
  col: number;
  value: number;
}

/** Lowest, highest, and the distance from one choice to the next. */
export type Range = readonly [low: number, high: number, step?: number];

/** A number that the core can hold: finite also as float32. */
function isUsable(value: number): boolean {
  return Number.isFinite(Math.fround(value));
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** What a reader typed, or undefined where it is no finite number. A true minus sign is as good as a hyphen. */
export function parseNumber(text: string): number | undefined {
  const plain = text.trim().replaceAll("−", "-");
  if (!decimal.test(plain)) return undefined;
  const value = Number(plain);
  return isUsable(value) ? value : undefined;
}

export const toBits = (text: string): Bits => [...text].map((bit) => bit === "1");

// Only characters that a query string leaves as they are: letters, digits and * - . _

const writeNumber = (value: number) => String(value).replace("+", "");

export const numbers = (count: number): Codec<Numbers> => ({
  read(text) {
    const values = text.split("_").map(parseNumber);
    return values.length === count && values.every((value) => value !== undefined) ? values : undefined;
  },
  write: (values) => values.map(writeNumber).join("_"),
});

export const bits = (count: number): Codec<Bits> => ({
  read: (text) => (/^[01]+$/.test(text) && text.length === count ? toBits(text) : undefined),
  write: (values) => values.map((bit) => (bit ? "1" : "0")).join(""),
});

export const integer = ([low, high, step = 1]: Range): Codec<number> => ({
  read(text) {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return value >= low && value <= high && (value - low) % step === 0 ? value : undefined;
  },
  write: String,
});

/** One of some numbers. */
export const oneOf = (values: readonly number[]): Codec<number> => ({
  read: (text) => values.find((value) => String(value) === text),
  write: String,
});

export const choice = <Value extends string>(values: readonly Value[]): Codec<Value> => ({
  read: (text) => values.find((value) => value === text),
  write: (value) => value,
});

export const edits: Codec<readonly Edit[]> = {
  read(text) {
    const read = text.split("_").map((part) => {
      const [, row, col, number] = /^(\d)\*(\d{1,2})\*([^*]+)$/.exec(part) ?? [];
      const value = number === undefined ? undefined : parseNumber(number);
      return value === undefined ? undefined : { row: Number(row), col: Number(col), value };
    });
    return read.every((edit) => edit !== undefined) ? read : undefined;
  },
  write: (values) => values.map(({ row, col, value }) => `${row}*${col}*${writeNumber(value)}`).join("_"),
};
