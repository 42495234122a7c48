import type { Text } from "../content/text.ts";
import { isShort } from "../format.ts";
import type { Role, Segment } from "./figure.ts";

// Lines of arithmetic, piece by piece. Nothing here computes: operands and results come from the core.

export interface Operand {
  value: number;
  role: Role;
}

export const symbol = (name: string, index: number | string, role: Role = "plain"): Segment => ({
  kind: "symbol",
  symbol: { name, index, role },
});

/** A number; one that follows an operator stands in brackets when it has a sign. */
export const number = (value: number, role: Role = "plain", bracketed = false): Segment => ({
  kind: "number",
  value,
  role,
  bracketed,
});

export const text = (content: string): Segment => ({ kind: "text", text: content });

/** Between arithmetic and what is said of it. */
export const gap: Segment = { kind: "gap" };

export const words = (content: Text, values: Readonly<Record<string, number>> = {}): Segment => ({
  kind: "words",
  text: content,
  values,
});

/** After punctuation: Chinese leaves none there. */
export const space = words({ zh: "", en: " " });

/** = where the digits shown are the whole number, ≈ where they are rounded. */
export const equals = (value: number, role: Role = "plain"): Segment[] => [
  text(isShort(value) ? " = " : " ≈ "),
  number(value, role),
];

/** x = a number that nothing was computed from, and what it is. */
export const given = (what: Segment, value: number, role: Role, note: Segment): Segment[] => [
  what,
  text(" = "),
  number(value, role),
  gap,
  note,
];

/** a − b = c */
export const minus = (a: number, b: number, result: number): Segment[] => [
  number(a),
  text(" − "),
  number(b, "plain", true),
  ...equals(result),
];

/** exp(s − m) ÷ Σ = a weight */
export const share = (score: number, rowMax: number, rowSum: number, weight: number): Segment[] => [
  text("exp("),
  number(score),
  text(" − "),
  number(rowMax, "plain", true),
  text(") ÷ "),
  number(rowSum),
  ...equals(weight, "weight"),
];

/** a + b + … */
export function sum(operands: readonly Operand[]): Segment[] {
  return operands.flatMap(({ value, role }, index) =>
    index === 0 ? [number(value, role)] : [text(" + "), number(value, role, true)],
  );
}

/** a × b + c × d + … */
export function productSum(pairs: readonly (readonly [Operand, Operand])[]): Segment[] {
  return pairs.flatMap(([one, other], index) => [
    ...(index === 0 ? [] : [text(" + ")]),
    number(one.value, one.role, index > 0),
    text(" × "),
    number(other.value, other.role, true),
  ]);
}

/** Of a long sum of products the first terms and the last. */
export function longProductSum(pairs: readonly (readonly [Operand, Operand])[], shown = 6): Segment[] {
  const last = pairs.at(-1);
  if (pairs.length <= shown || last === undefined) return productSum(pairs);
  const [first, second] = [productSum(pairs.slice(0, shown - 1)), productSum([last])];
  return [...first, text(" + … + "), ...second];
}
