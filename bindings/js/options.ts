import { AttentionError } from "./error.js";
import type { RawOptions } from "./raw.js";
import { toRawMask } from "./tensor.js";
import type { MaskLike } from "./types.js";

const maskNames = new Set(["mask", "keyMask"]);

/**
 * Options for the adapters: masks in their raw form, the rest as given (the core checks values and
 * knows the defaults). An unknown name is an error, since a misspelt `causal` would silently not mask.
 */
export function toRawOptions<Options extends object>(
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
): RawOptions {
  const raw: Record<string, unknown> = {};
  if (options === undefined) {
    return raw;
  }
  requireKnown(options, known);
  for (const [name, value] of Object.entries(options)) {
    raw[name] = maskNames.has(name) && value !== undefined ? toRawMask(value as MaskLike, name) : value;
  }
  return raw;
}

/** @throws AttentionError OPTION */
export function requireKnown(options: unknown, known: readonly string[]): asserts options is object {
  if (typeof options !== "object" || options === null) {
    throw new AttentionError("OPTION", `options must be an object, not ${String(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new AttentionError("OPTION", `unknown option "${name}"; known are ${known.join(", ")}`);
    }
  }
}
