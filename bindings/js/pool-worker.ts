// What runs in each worker of a pool.

import { expose, transfer } from "comlink";
import { portOfParent } from "#worker";
import type { ErrorCode } from "./error-codes.js";
import { AttentionError } from "./error.js";
import { load } from "./load.js";
import type { AttentionResult, Simd, Softlookup, TensorLike } from "./types.js";

/** The functions that a pool shares out. */
export type Shared = "scaledDotProductAttention" | "linearAttention";

/** One call of the core. */
export interface Task {
  simd: Simd | undefined;
  name: Shared;
  tensors: readonly [TensorLike, TensorLike, TensorLike];
  options: object;
}

interface Failure {
  failure: { code: ErrorCode; message: string };
}

let core: Promise<Softlookup> | undefined;

async function run({ simd, name, tensors, options }: Task): Promise<AttentionResult | Failure> {
  core ??= load({ simd });
  try {
    const result: AttentionResult = (await core)[name](...tensors, options);
    return transfer(
      result,
      Object.values(result).map(({ data }: { data: Float32Array }) => data.buffer),
    );
  } catch (error) {
    if (error instanceof AttentionError) {
      return { failure: { code: error.code, message: error.message } };
    }
    throw error;
  }
}

export type Run = typeof run;

portOfParent((port) => {
  expose(run, port);
});
