import { packageUrl, readBytes } from "./environment.mjs";
import { interleave } from "./measure.mjs";
import { ratios, summary } from "./statistics.mjs";

const length = 2048;
const heads = 8;

/**
 * How many times as fast two workers are as one; and, in the same rounds, how many times as much two pools get done at
 * once as one alone, which is what the machine lets two threads do. Null where the package has no pool.
 */
export async function pool(effort, randomNormal) {
  if (!(await readBytes("dist/pool.js"))) return null;
  const { createPool } = await import(packageUrl("pool.js"));
  const attendOver = (count) => {
    const inputs = [1, 2, 3].map((seed) => randomNormal([count, length, 64], seed));
    return (each) => each.scaledDotProductAttention(...inputs);
  };
  const [whole, half] = [attendOver(heads), attendOver(heads / 2)];
  const pools = await Promise.all([1, 1, 2].map((workers) => createPool({ workers })));
  const [single, another, both] = pools;
  try {
    const [one, two, alone, atOnce] = await interleave(
      [
        { run: () => whole(single) },
        { run: () => whole(both) },
        { run: () => half(single) },
        { run: () => Promise.all([half(single), half(another)]) },
      ],
      effort,
    );
    return {
      shared: summary(ratios(one, two)),
      apart: summary(ratios(alone, atOnce).map((ratio) => 2 * ratio)),
    };
  } finally {
    for (const each of pools) await each.dispose();
  }
}
