// The heavy functions over workers: asynchronous, and with the same bits.

import { transfer, wrap } from "comlink";
import { parallelism, startWorker } from "#worker";
import { AttentionError } from "./error.js";
import { attentionOptions, linearOptions, requireKnown, toRawOptions } from "./options.js";
import type { Run, Shared } from "./pool-worker.js";
import { sharesOf, type Call } from "./shares.js";
import { toRawTensor } from "./tensor.js";
import type { AttentionResult, Pool, PoolCallOptions, PoolOptions, Tensor, TensorLike } from "./types.js";

export { AttentionError } from "./error.js";
export type * from "./types.js";

/** So that no worker waits long for the others' last share, and progress and cancelling come often enough. */
const sharesPerWorker = 4;

/** Starts the workers; dispose() ends them. @throws AttentionError OPTION */
export function createPool(options: PoolOptions = {}): Pool {
  requireKnown(options, ["workers", "simd"]);
  const { workers = parallelism(), simd } = options;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new AttentionError("OPTION", `workers must be a whole number, 1 or more, not ${String(workers)}`);
  }

  const closing = new AbortController();
  const members = Array.from({ length: workers }, () => {
    const { port1, port2 } = new MessageChannel();
    const end = startWorker(port2, (cause) => {
      close(new AttentionError("LOAD", `pool-worker.js: ${cause.message}`, { cause }));
    });
    return { run: wrap<Run>(port1), port: port1, end };
  });
  function close(reason: AttentionError): void {
    closing.abort(reason);
    for (const { port, end } of members) {
      port.close();
      end();
    }
  }

  /** What came of `calls`, in their order. The first failure leaves the rest undone. */
  async function runAll(
    name: Shared,
    calls: readonly Call[],
    signal: AbortSignal,
    onProgress: PoolCallOptions["onProgress"],
  ): Promise<AttentionResult[]> {
    const results: AttentionResult[] = [];
    let done = 0;
    // A generator, since a loop that is left closes it for the others.
    const queue = (function* () {
      yield* calls.entries();
    })();
    await Promise.all(
      members.map(async ({ run }) => {
        for (const [index, { tensors, options, buffers }] of queue) {
          const answer = await run(transfer({ simd, name, tensors, options }, [...buffers]));
          if ("failure" in answer) throw new AttentionError(answer.failure.code, answer.failure.message);
          results[index] = answer;
          signal.throwIfAborted();
          onProgress?.(++done, calls.length);
        }
      }),
    );
    return results;
  }

  async function share(
    name: Shared,
    call: Call,
    { signal: cancel, onProgress }: PoolCallOptions,
  ): Promise<AttentionResult> {
    const signal = AbortSignal.any([closing.signal, ...(cancel ? [cancel] : [])]);
    signal.throwIfAborted();
    const work = async () => {
      try {
        return await runAll(name, sharesOf(call, sharesPerWorker * workers), signal, onProgress);
      } catch (error) {
        if (!(error instanceof AttentionError) || signal.aborted) {
          throw error;
        }
        return runAll(name, [call], signal, undefined); // whose message names the sizes that the caller knows
      }
    };
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
    });
    return join(call, await Promise.race([work(), aborted]));
  }

  async function call(
    name: Shared,
    inputs: readonly [TensorLike, TensorLike, TensorLike],
    options: object,
    known: readonly string[],
  ): Promise<AttentionResult> {
    requireKnown(options, [...known, "signal", "onProgress"]);
    const { signal, onProgress } = options as PoolCallOptions;
    const [q, k, v] = inputs;
    const tensors = [toRawTensor(q, "q"), toRawTensor(k, "k"), toRawTensor(v, "v")] as const;
    const own = Object.fromEntries(
      known.map((option) => [option, (options as Record<string, unknown>)[option]]),
    );
    return share(name, { tensors, options: toRawOptions(own, known), buffers: [] }, { signal, onProgress });
  }

  return {
    workers,
    scaledDotProductAttention: (q, k, v, options = {}) =>
      call("scaledDotProductAttention", [q, k, v], options, [...attentionOptions, "needWeights", "out"]),
    linearAttention: (q, k, v, options = {}) => call("linearAttention", [q, k, v], options, linearOptions),
    dispose: () => {
      close(new AttentionError("DISPOSED", "this pool was disposed"));
    },
    [Symbol.dispose]() {
      this.dispose();
    },
  };
}

/** Results of shares, one after the other, as the result of the call. */
function join({ tensors: [q], options }: Call, results: readonly AttentionResult[]): AttentionResult {
  const joined = (parts: readonly Tensor[], into?: Float32Array): Tensor => {
    const shape = [...q.shape.slice(0, -2), ...(parts[0] as Tensor).shape.slice(-2)];
    const data = into ?? new Float32Array(parts.reduce((sum, part) => sum + part.data.length, 0));
    let start = 0;
    for (const part of parts) {
      data.set(part.data, start);
      start += part.data.length;
    }
    return { data, shape };
  };
  const output = joined(
    results.map((result) => result.output),
    options["out"] as Float32Array | undefined,
  );
  const weights = results.flatMap((result) => result.weights ?? []);
  return weights.length === 0 ? { output } : { output, weights: joined(weights) };
}
