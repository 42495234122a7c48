import { toRawOptions } from "./options.js";
import { unwrap, type Raw, type RawOptions } from "./raw.js";
import { toRawPositions, toRawTensor } from "./tensor.js";
import type { Positions, Rope, RopeScaling, RopeTable } from "./types.js";

export function ropeOver(raw: Raw): Rope {
  return (x, options) =>
    unwrap(
      raw.rotate(
        toRawTensor(x, "x"),
        toRawRope(options, ["positions", "theta", "layout", "dims", "inverse", "scaling"]),
      ),
    );
}

export function ropeTableOver(raw: Raw): RopeTable {
  return (options) =>
    unwrap(raw.makeRopeTable(toRawRope(options, ["positions", "dims", "theta", "scaling"])));
}

const scalingNames = [
  "type",
  "factor",
  "originalMaxPositions",
  "betaFast",
  "betaSlow",
  "attentionFactor",
] as const satisfies readonly (keyof RopeScaling)[];

/** Options of a rotary embedding for the adapters. @throws AttentionError OPTION, DTYPE, SHAPE */
export function toRawRope<Options extends object>(
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
  what?: string,
): RawOptions {
  const { positions, scaling, ...rest } = toRawOptions(options, known, what);
  return {
    ...rest,
    positions: positions === undefined ? undefined : toRawPositions(positions as Positions, "positions"),
    scaling:
      scaling === undefined ? undefined : toRawOptions(scaling as RopeScaling, scalingNames, "scaling"),
  };
}
