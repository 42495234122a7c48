import { toRawOptions } from "./options.js";
import type { Raw } from "./raw.js";
import { toRawTensor } from "./tensor.js";
import type { Rope, RopeTable } from "./types.js";

export function ropeOver(raw: Raw): Rope {
  return (x, options) =>
    raw.rotate(
      toRawTensor(x, "x"),
      toRawOptions(options, ["positions", "theta", "layout", "dims", "inverse", "scaling"]),
    );
}

export function ropeTableOver(raw: Raw): RopeTable {
  return (options) => raw.makeRopeTable(toRawOptions(options, ["positions", "dims", "theta", "scaling"]));
}
