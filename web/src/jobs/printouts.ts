import { labLines } from "../compute/labs.ts";
import type { Sizes } from "../compute/minimind.ts";

/** What the lab prints for some sizes after the others. */
export function* printouts(input: { sizes: readonly Sizes[] }): Generator<readonly string[]> {
  for (const sizes of input.sizes) yield labLines(sizes);
}
