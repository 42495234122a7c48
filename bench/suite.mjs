// Everything that is measured in one process, in Node or in a page.

import { packageUrl } from "./environment.mjs";
import { growth } from "./growth.mjs";
import * as efforts from "./measure.mjs";
import { meters } from "./peak.mjs";
import { loaders } from "./peers/index.mjs";
import { loadEach } from "./peers/softlookup.mjs";
import { pool } from "./pool.mjs";
import { referenceOf } from "./reference.mjs";
import { makeInputs, swapAxes, workload } from "./workloads.mjs";

/** The largest relative L2 error of a peer: what computes something else is none. */
const tolerance = 1e-4;

/** The first line, without the folders of the machine that a library was built on. */
const reasonOf = (error) =>
  String(error?.message ?? error)
    .split("\n", 1)[0]
    .replace(/\/\S+\//g, "");

/** Opens a candidate and compares its first answer with the reference. Throws when it is wrong. */
async function admit({ open, headsLast, ...name }, { heads, queries }, errorOf) {
  const contender = await open();
  try {
    const output = await contender.run();
    const error = errorOf(headsLast ? swapAxes(output, queries, heads) : output);
    if (!(error < tolerance)) throw new Error(`its relative error is ${error}`);
    return { ...contender, ...name, error };
  } catch (error) {
    contender.dispose?.();
    throw error;
  }
}

async function measure(shape, peers, { effort, meters, randomNormal, progress }) {
  const inputs = makeInputs(shape, randomNormal);
  const errorOf = referenceOf(shape, inputs);
  const admitted = [];
  const refused = [];
  for (const candidates of peers) {
    for (const candidate of await candidates(shape, inputs)) {
      const { peer, form } = candidate;
      progress(`${shape.title}: ${peer}${form ? `, ${form}` : ""}`);
      try {
        admitted.push(await admit(candidate, shape, errorOf));
      } catch (error) {
        refused.push({ peer, form, reason: reasonOf(error) });
      }
    }
  }
  progress(`${shape.title}: in turn`);
  const all = [...admitted, ...meters];
  const times = await efforts.interleave(all, effort);
  for (const { dispose } of admitted) await dispose?.();
  const results = all.map(({ peer, form, error, unit, amount }, i) => ({
    peer,
    form,
    error,
    unit,
    amount,
    times: times[i],
  }));
  return { id: shape.id, results, refused };
}

/**
 * @param options ids: of the workloads; growthTo: the largest n, 0 for none; withPool; quick
 * @param progress told what is done next
 */
export async function runSuite({ ids, growthTo, withPool, quick }, progress) {
  const effort = quick ? efforts.quick : efforts.thorough;
  const { randomNormal } = await import(packageUrl("index.js"));
  const own = await loadEach();
  const { softlookup: _, ...others } = loaders;
  const peers = await Promise.all(Object.values(others).map((load) => load()));
  const context = { effort, meters: await meters(), randomNormal, progress };
  const workloads = [];
  for (const shape of ids.map(workload))
    workloads.push(await measure(shape, shape.alone ? own : [...own, ...peers], context));
  progress("growth and pool");
  return {
    workloads,
    growth: growthTo ? await growth(effort, growthTo) : null,
    pool: withPool ? await pool(effort, randomNormal) : null,
  };
}
