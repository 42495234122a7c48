// Tables of wrong arguments: what each call must throw, and that the next call is right.

import { test } from "vitest";
import type { ErrorCode } from "softlookup";
import { expectError, flatBool } from "./support.js";

export type Case = [what: string, call: () => unknown, code: ErrorCode, message: RegExp];

/** Types are for those who use them: here everything may be given to everything. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export const untyped = (value: unknown): any => value;

/** Runs each case, and afterwards `control`, which must still be right. */
export function table(cases: readonly Case[], control: () => void): void {
  test.each(cases)("%s", (_, call, code, message) => {
    expectError(call, code, message);
    control();
  });
}

export const optionsThatAreNone: [string, unknown][] = [
  ["null", null],
  ["a number", 5],
  ["a string", "causal"],
  ["true", true],
  ["a function", () => ({})],
];

export const flagsThatAreNone: [string, unknown][] = [
  ["1", 1],
  ["text", "true"],
  ["null", null],
  ["an object", {}],
];

export const causalsThatAreNone: [string, unknown][] = [
  ["1", 1],
  ["null", null],
  ["other text", "topleft"],
  ["an object", {}],
];

export const sizesThatAreNone: [string, unknown][] = [
  ["negative", -1],
  ["fractional", 1.5],
  ["NaN", NaN],
  ["infinite", Infinity],
  ["text", "2"],
  ["null", null],
  ["a bigint", 2n],
];

/** The cases of an options object: not one at all, an unknown name, and each option with wrong values. */
export function optionCases(
  call: (options: unknown) => unknown,
  options: Readonly<Record<string, { of: [string, unknown][]; code?: ErrorCode; message?: RegExp }>>,
): Case[] {
  return [
    ...optionsThatAreNone.map(([name, value]): Case => [
      `options: ${name}`,
      () => call(value),
      "OPTION",
      /options/,
    ]),
    ["options: an unknown name", () => call({ casual: true }), "OPTION", /"casual"/],
    ...Object.entries(options).flatMap(
      ([option, { of, code = "OPTION", message = RegExp(`\\b${option}\\b`) }]) =>
        of.map(([name, value]): Case => [
          `${option}: ${name}`,
          () => call({ [option]: value }),
          code,
          message,
        ]),
    ),
  ];
}

/** The cases of a mask beside scores [2, 3]. */
export function maskCases(
  name: string,
  call: (mask: unknown) => unknown,
  wrongShape: readonly number[],
): Case[] {
  const named = RegExp(`\\b${name}\\b`);
  return [
    [`${name}: null`, () => call(null), "DTYPE", named],
    [`${name}: text`, () => call("101"), "DTYPE", named],
    [`${name}: a Float64Array`, () => call(new Float64Array(3)), "DTYPE", named],
    [`${name}: numbers`, () => call([1, 0, 1]), "DTYPE", named],
    [`${name}: ragged rows`, () => call([[true], [true, false]]), "SHAPE", named],
    [`${name}: no shape`, () => call({ data: new Uint8Array(3) }), "SHAPE", named],
    [`${name}: too few elements`, () => call({ data: new Uint8Array(2), shape: [3] }), "SHAPE", named],
    [`${name}: a wrong shape`, () => call(flatBool([1, 1], ...wrongShape)), "MASK_SHAPE", named],
  ];
}
