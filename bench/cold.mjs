import { libraries, loaders } from "./peers/index.mjs";
import { anyInputs, workload } from "./workloads.mjs";

/** From the import to the first result, in milliseconds, in a process or page that has done nothing else. */
export async function coldStart(name) {
  const shape = workload("tokens-4");
  const inputs = anyInputs(shape);
  const start = performance.now();
  const [candidate] = await (await loaders[name]())(shape, inputs);
  await (await candidate.open()).run();
  return performance.now() - start;
}

/**
 * @param start runs coldStart(name) in a fresh process or page
 * @returns milliseconds by library, by round
 */
export async function coldStarts(start, rounds) {
  const times = Object.fromEntries(libraries.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const name of libraries) times[name].push(await start(name));
  return times;
}
