import { packageUrl, readBytes } from "./environment.mjs";
import { interleave } from "./measure.mjs";
import { ratios, summary } from "./statistics.mjs";

const shape = [8, 2048, 64];

/** How many times as fast two workers are as one. Null where the package has no pool. */
export async function pool(effort, randomNormal) {
  if (!(await readBytes("dist/pool.js"))) return null;
  const { createPool } = await import(packageUrl("pool.js"));
  const [q, k, v] = [1, 2, 3].map((seed) => randomNormal(shape, seed));
  const pools = await Promise.all([1, 2].map((workers) => createPool({ workers })));
  try {
    const [one, two] = await interleave(
      pools.map((each) => ({ run: () => each.scaledDotProductAttention(q, k, v) })),
      effort,
    );
    return summary(ratios(one, two));
  } finally {
    for (const each of pools) await each.dispose();
  }
}
