import { afterAll, beforeEach, expect } from "vitest";
import {
  AttentionError,
  MultiHeadAttention,
  memoryUsage,
  type ErrorCode,
  type MultiHeadAttentionConfig,
  type Tensor,
  type TensorLike,
} from "softlookup";

/** Every suite calls it: each test must assert something, and nothing may be left alive in the end. */
export function leavesNothingAlive(): void {
  const before = memoryUsage();
  beforeEach(() => {
    expect.hasAssertions();
  });
  afterAll(() => {
    const after = memoryUsage();
    expect({ objects: after.objects, allocated: after.allocated }).toEqual({
      objects: before.objects,
      allocated: before.allocated,
    });
  });
}

/** A float tensor from flat numbers; sizes of 0 are possible. */
export function flat(data: ArrayLike<number>, ...shape: number[]): Tensor {
  return { data: Float32Array.from(data), shape };
}

export function flatBool(data: ArrayLike<number | boolean>, ...shape: number[]) {
  return { data: Uint8Array.from(Array.from(data), Number), shape };
}

export function numbers({ data }: { readonly data: ArrayLike<number> }): number[] {
  return Array.from(data);
}

/** What lies at `index` of the first axis. */
export function at({ data, shape }: Tensor, index: number): Tensor {
  const [count = 0, ...rest] = shape;
  const size = data.length / count;
  return { data: data.slice(index * size, (index + 1) * size), shape: rest };
}

/** The tensor with its first axis in the order of `indices`. */
export function take(tensor: Tensor, indices: readonly number[]): Tensor {
  const parts = indices.map((index) => at(tensor, index));
  return {
    data: Float32Array.from(parts.flatMap(numbers)),
    shape: [indices.length, ...tensor.shape.slice(1)],
  };
}

/** Tokens from … to − 1: what lies there along the axis before the last. */
export function tokensOf({ data, shape }: Tensor, from: number, to: number): Tensor {
  const [length, width] = shape.slice(-2) as [number, number];
  const sequences = shape.slice(0, -2).reduce((product, size) => product * size, 1);
  const parts = Array.from({ length: sequences }, (_, n) =>
    data.subarray((n * length + from) * width, (n * length + to) * width),
  );
  const part = new Float32Array(sequences * (to - from) * width);
  parts.forEach((tokens, n) => {
    part.set(tokens, n * (to - from) * width);
  });
  return { data: part, shape: [...shape.slice(0, -2), to - from, width] };
}

/** One after the other along the axis before the last. */
export function joined(parts: readonly Tensor[]): Tensor {
  const [{ shape }] = parts as [Tensor];
  const leading = shape.slice(0, -2);
  const sequences = leading.reduce((product, size) => product * size, 1);
  const data = Array.from({ length: sequences }, (_, n) =>
    parts.flatMap((part) => {
      const size = part.data.length / sequences;
      return Array.from(part.data.subarray(n * size, (n + 1) * size));
    }),
  );
  const length = parts.reduce((sum, part) => sum + (part.shape.at(-2) as number), 0);
  return flat(data.flat(), ...leading, length, shape.at(-1) as number);
}

/** Where each chunk begins and ends. */
export function bounds(chunks: readonly number[]): [from: number, to: number][] {
  let to = 0;
  return chunks.map((count) => [to, (to += count)]);
}

function bits({ data }: Tensor): Uint32Array {
  return new Uint32Array(data.slice().buffer);
}

/** Same shape, and the same bits: -0 is not 0, and NaN is itself. */
export function expectSameBits(got: Tensor, want: Tensor): void {
  expect(got.shape).toEqual(want.shape);
  expect(got.data.length).toBe(want.data.length);
  const other = bits(want);
  const differing = [...bits(got).entries()].filter(([i, value]) => value !== other[i]).map(([i]) => i);
  expect(differing.map((i) => `${i}: ${got.data[i]} instead of ${want.data[i]}`)).toEqual([]);
}

export interface Tolerance {
  readonly abs: number;
  readonly rel: number;
}

/** |got − want| ≤ abs + rel·|want|; NaN meets NaN and an infinity itself. Sizes come first. */
export function expectClose(
  got: ArrayLike<number>,
  want: ArrayLike<number>,
  { abs, rel }: Tolerance,
  where?: string,
): void {
  expect(got.length, where).toBe(want.length);
  const wrong = Array.from(want, (wanted, i) => ({ i, wanted, found: Number(got[i]) })).filter(
    ({ wanted, found }) =>
      !Object.is(found, wanted) && !(Math.abs(found - wanted) <= abs + rel * Math.abs(wanted)),
  );
  expect(
    wrong.map(({ i, wanted, found }) => `${i}: ${found} instead of ${wanted}`),
    where,
  ).toEqual([]);
}

/** Two tensors of one shape. */
export function expectAgree(got: Tensor, want: Tensor, tolerance = branches): void {
  expect(got.shape).toEqual(want.shape);
  expectClose(got.data, want.data, tolerance);
}

/** How far the fast branch may lie from the passes of a trace, on unit-scale inputs. */
export const branches: Tolerance = { abs: 2e-6, rel: 2e-6 };

/** Hand-computed numbers, written with six digits. */
export const byHand: Tolerance = { abs: 1e-5, rel: 0 };

export function expectTensor(
  got: Tensor,
  shape: readonly number[],
  want: readonly number[],
  tolerance = byHand,
): void {
  expect(got.data).toBeInstanceOf(Float32Array);
  expect(got.shape).toEqual(shape);
  expectClose(got.data, want, tolerance);
}

/** What `call` throws. Fails when it throws nothing, or anything but an AttentionError. */
export function caught(call: () => unknown): AttentionError {
  let thrown: unknown;
  let returned = false;
  try {
    call();
    returned = true;
  } catch (error) {
    thrown = error;
  }
  expect(returned, "it returned instead of throwing").toBe(false);
  return asAttentionError(thrown);
}

export async function rejected(call: () => Promise<unknown>): Promise<AttentionError> {
  const thrown = await call().then(
    () => "it resolved instead of rejecting",
    (error: unknown) => error,
  );
  return asAttentionError(thrown);
}

function asAttentionError(thrown: unknown): AttentionError {
  const description = `${String(thrown)} is an AttentionError`;
  expect(thrown instanceof Error, description).toBe(true);
  expect(thrown instanceof AttentionError, description).toBe(true);
  expect((thrown as AttentionError).name).toBe("AttentionError");
  return thrown as AttentionError;
}

export function expectError(call: () => unknown, code: ErrorCode, message: RegExp): void {
  const error = caught(call);
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: expect.stringMatching(message),
  });
}

export async function expectRejection(
  call: () => Promise<unknown>,
  code: ErrorCode,
  message: RegExp,
): Promise<void> {
  const error = await rejected(call);
  expect({ code: error.code, message: error.message }).toEqual({
    code,
    message: expect.stringMatching(message),
  });
}

/** The n × n identity. */
export function identity(n: number): Tensor {
  return flat(
    Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
    n,
    n,
  );
}

/** A state dict that hands query, key, value and the merged heads through unchanged. */
export function identityState(embedDim: number): Record<string, TensorLike> {
  const eye = identity(embedDim);
  return {
    in_proj_weight: flat([...eye.data, ...eye.data, ...eye.data], 3 * embedDim, embedDim),
    "out_proj.weight": eye,
  };
}

/** Lets `use` have a multi-head attention that is freed afterwards. */
export function withMultiHead<Result>(
  config: MultiHeadAttentionConfig,
  state: Record<string, TensorLike>,
  use: (attention: InstanceType<typeof MultiHeadAttention>) => Result,
): Result {
  const attention = new MultiHeadAttention(config);
  try {
    attention.loadStateDict(state);
    return use(attention);
  } finally {
    attention.dispose();
  }
}

/** The tensor of the step `id`; fails when there is none or more than one. */
export function step(
  trace: { readonly steps: readonly { id: string; shape: readonly number[]; tensor: Tensor }[] },
  id: string,
): Tensor {
  const found = trace.steps.filter((candidate) => candidate.id === id);
  expect(found.map(({ id: name }) => name)).toEqual([id]);
  const [only] = found as [(typeof found)[0]];
  expect(only.shape).toEqual(only.tensor.shape);
  return only.tensor;
}
