import { AttentionError } from "./error.js";
import { scalar, scalars, type Plain } from "./message.js";
import type { RawOptions } from "./raw.js";
import { toOut, toRawMask, toRawPositions, toRawTensor } from "./tensor.js";
import type { MaskLike, Positions, RopeScaling, TensorLike } from "./types.js";

type ToRaw = (value: unknown, name: string) => Plain;

const mask: ToRaw = (value, name) => toRawMask(value as MaskLike, name);
const tensor: ToRaw = (value, name) => toRawTensor(value as TensorLike, name);

const within =
  (known: readonly string[]): ToRaw =>
  (value, name) =>
    toRawOptions(value as Record<string, unknown>, known, name);

const scaling = [
  "type",
  "factor",
  "originalMaxPositions",
  "betaFast",
  "betaSlow",
  "attentionFactor",
] as const satisfies readonly (keyof RopeScaling)[];

const toRawRope = within(["layout", "theta", "dims", "scaling"]);
const toRawNorm = within(["eps"]);
const toRawSides = within(["left", "right"]);

/** Options that are objects or lists, and how each goes to the adapters. */
const objects: Record<string, ToRaw> = {
  mask,
  keyMask: mask,
  sinks: tensor,
  alibiSlopes: tensor,
  weight: tensor,
  W: tensor,
  U: tensor,
  v: tensor,
  b: tensor,
  out: toOut,
  window: toWindow,
  keyLengths: scalars,
  lengths: scalars,
  positions: (value, name) => toRawPositions(value as Positions, name),
  qkNorm: (value, name) => (typeof value === "boolean" ? value : toRawNorm(value, name)),
  rope: (value, name) => (value === false ? value : toRawRope(value, name)),
  scaling: within(scaling),
};

export const attentionOptions = [
  "mask",
  "causal",
  "scale",
  "window",
  "softcap",
  "sinks",
  "alibiSlopes",
  "align",
  "keyLengths",
] as const;

export const linearOptions = ["causal", "keyMask", "eps"] as const;

/**
 * Options for the adapters: objects and lists in their raw form, the rest as given (the core checks values and knows the
 * defaults). An unknown name is an error, since a misspelt `causal` would silently not mask.
 */
export function toRawOptions<Options extends object>(
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
  what?: string,
  more?: Readonly<Record<string, ToRaw>>,
): RawOptions {
  const raw: Record<string, Plain> = {};
  if (options === undefined) {
    return raw;
  }
  requireKnown(options, known, what);
  for (const name of known) {
    const value: unknown = options[name]; // an inherited one too, as everywhere in JavaScript
    if (value !== undefined) raw[name] = (more?.[name] ?? objects[name] ?? scalar)(value, name);
  }
  return raw;
}

/** A window, whose sides must not be misspelt either. @throws AttentionError OPTION */
export function toWindow(window: unknown): Plain {
  return typeof window === "object" && window !== null ? toRawSides(window, "window") : scalar(window);
}

/** @throws AttentionError OPTION */
export function requireKnown(
  options: unknown,
  known: readonly string[],
  what = "options",
): asserts options is object {
  if (typeof options !== "object" || options === null) {
    throw new AttentionError("OPTION", `${what} must be an object, not ${String(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new AttentionError("OPTION", `${what}: "${name}" is unknown; known are ${known.join(", ")}`);
    }
  }
}
