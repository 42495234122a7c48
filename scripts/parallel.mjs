import { availableParallelism } from "node:os";

/** Does the work on each item, as many at once as there are processors. */
export async function inParallel(items, work) {
  const rest = [...items];
  const worker = async () => {
    while (rest.length > 0) await work(rest.shift());
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}
