/** Digits after the point. */
const decimals = 3;

const trueMinus = (text: string) => text.replaceAll("-", "−").replace("+", "");

/** Is the number no longer than what is shown of it? */
export function isShort(value: number): boolean {
  return !Number.isFinite(value) || (Math.abs(value) < 1e5 && Number(value.toFixed(decimals)) === value);
}

/** The shortest decimals that are this number: 0.5, −2, 1.4142135381698608. */
export function exactly(value: number): string {
  if (Number.isFinite(value)) return trueMinus(String(value));
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "∞" : "−∞";
}

/** As cells show it: short numbers as they are, the others rounded. */
export function rounded(value: number): string {
  if (isShort(value)) return exactly(value);
  const size = Math.abs(value);
  if (size >= 1e4) return trueMinus(value.toExponential(1));
  const fixed = value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : decimals);
  // Not zero, however small.
  return trueMinus(Number(fixed) === 0 ? value.toExponential(0) : fixed);
}

/** A whole number, its digits in groups of three. */
export const grouped = (value: number): string => value.toLocaleString("en-US");

/** As settings and axes show it: large whole numbers to the last digit. */
export const written = (value: number): string =>
  Number.isInteger(value) && value >= 1e4 ? grouped(value) : rounded(value);

/** The numbers of a column with the same decimals, as many as the longest of them shows. */
export function aligned(value: number, column: readonly number[]): string {
  const digits = column.map((one) => /^\D?\d+\.?(\d*)$/.exec(rounded(one))?.[1]?.length);
  if (digits.includes(undefined)) return rounded(value); // powers of ten, infinities
  return trueMinus(value.toFixed(Math.max(...(digits as number[]))));
}

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A number of bytes in the largest unit that leaves at least 1. */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
  return `${rounded(count / 1024 ** power)} ${units[power] ?? ""}`;
}
