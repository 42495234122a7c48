import { packageUrl } from "./environment.mjs";
import { interleave } from "./measure.mjs";
import { loaders } from "./peers/index.mjs";
import { summary } from "./statistics.mjs";
import { makeInputs } from "./workloads.mjs";

/** From here on the time is the attention's own. */
const fittedFrom = 1024;

const powers = (from, to) => (from > to ? [] : [from, ...powers(2 * from, to)]);

/** The time of one head against n, and the power of n by which it grows. */
export async function growth(effort, largest) {
  const { growthExponent, randomNormal } = await import(packageUrl("index.js"));
  const own = await loaders.softlookup();
  const sizes = powers(4, largest);
  const contenders = sizes.map((n) => {
    const shape = { kind: "attention", queries: n, keys: n, heads: 1, kvHeads: 1, headDim: 64 };
    return own(shape, makeInputs(shape, randomNormal))[0].open();
  });
  const times = (await interleave(contenders, effort)).map(summary);
  const points = sizes.map((n, i) => ({ n, ...times[i] }));
  const fitted = points.filter(({ n }) => n >= fittedFrom);
  const exponent =
    fitted.length < 2
      ? null
      : growthExponent(
          fitted.map(({ n }) => n),
          fitted.map(({ median }) => median),
        );
  return { points, fittedFrom, exponent };
}
