import { readModels } from "./models.mjs";
import { libraries, loaders } from "./peers/index.mjs";
import { anyInputs, workload } from "./workloads.mjs";

/** Keeps each memory that is made from now on, by whom ever. */
function watchMemories() {
  const memories = new Set();
  const { Memory, instantiate } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor) {
      super(descriptor);
      memories.add(this);
    }
  };
  WebAssembly.instantiate = async (...args) => {
    const result = await instantiate(...args);
    for (const exported of Object.values((result.instance ?? result).exports))
      if (exported instanceof Memory) memories.add(exported);
    return result;
  };
  return memories;
}

/**
 * Bytes of WebAssembly memory after one call, in a process that has done nothing else: memory never shrinks, so that is
 * the most that was needed.
 */
export async function heapAfter(name, form, id) {
  const shape = workload(id);
  const memories = watchMemories();
  const candidates = await (await loaders[name]())(shape, anyInputs(shape));
  await (await candidates.find((candidate) => (candidate.form ?? null) === form).open()).run();
  return [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}

const workloadId = "full-8192";

/**
 * @param after runs heapAfter(name, form, id) in a fresh process
 * @returns bytes by library and form, null where the call fails
 */
export async function heaps(after) {
  const forms = { "onnxruntime-web": (await readModels(workloadId)).map(({ form }) => form) };
  const bytes = [];
  for (const name of libraries)
    for (const form of forms[name] ?? [null])
      bytes.push({ name, form, bytes: await after(name, form, workloadId).catch(() => null) });
  return bytes;
}
