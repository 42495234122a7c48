// What needs a Node process of its own: node bench/node.mjs <what> '<its arguments>' <file for the answer>

import { writeFileSync } from "node:fs";
import { coldStart } from "./cold.mjs";
import { heapAfter } from "./heap.mjs";
import { runSuite } from "./suite.mjs";

// onnxruntime-web gives Node this name, and where it is there, jax-js computes with threads.
Object.defineProperty(globalThis, "Worker", { get: () => undefined, set: () => undefined });

const what = {
  coldStart,
  heapAfter,
  runSuite: (options) => runSuite(options, (text) => console.log(`Node: ${text}`)),
};

const [name, args, file] = process.argv.slice(2);
writeFileSync(file, JSON.stringify(await what[name](...JSON.parse(args))));
process.exit(); // peers leave handles open
