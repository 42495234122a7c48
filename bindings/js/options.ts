import { AttentionError } from "./error.js";
import type { RawOptions } from "./raw.js";
import { toOut, toRawMask, toRawTensor } from "./tensor.js";
import type { MaskLike, TensorLike } from "./types.js";

/** Options that hold arrays, and how each goes to the adapters. */
const arrays: Record<string, (value: unknown, name: string) => unknown> = {
  mask: (value, name) => toRawMask(value as MaskLike, name),
  keyMask: (value, name) => toRawMask(value as MaskLike, name),
  out: toOut,
  window: toWindow,
};
for (const name of ["sinks", "alibiSlopes", "weight", "W", "U", "v", "b"]) {
  arrays[name] = (value) => toRawTensor(value as TensorLike, name);
}

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
 * Options for the adapters: arrays in their raw form, the rest as given (the core checks values and
 * knows the defaults). An unknown name is an error, since a misspelt `causal` would silently not mask.
 */
export function toRawOptions<Options extends object>(
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
  what?: string,
): RawOptions {
  const raw: Record<string, unknown> = {};
  if (options === undefined) {
    return raw;
  }
  requireKnown(options, known, what);
  for (const [name, value] of Object.entries(options)) {
    const toRaw = arrays[name];
    raw[name] = toRaw && value !== undefined ? toRaw(value, name) : value;
  }
  return raw;
}

/** A window, whose sides must not be misspelt either. @throws AttentionError OPTION */
export function toWindow(window: unknown): unknown {
  if (typeof window === "object" && window !== null) {
    requireKnown(window, ["left", "right"], "window");
  }
  return window;
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
