import { expect } from "vitest";
import type { BoolTensor, Tensor } from "softlookup";
import { expectClose, type Tolerance } from "./support.js";

export interface GoldenArray {
  readonly dtype: "float32" | "float64" | "int32" | "bool";
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}

export interface GoldenCase {
  readonly name: string;
  readonly family: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, GoldenArray>>;
  readonly outputs: Readonly<Record<string, GoldenArray>>;
  readonly tolerance: Tolerance;
}

export interface GoldenFile {
  readonly format: number;
  readonly family: string;
  readonly cases: readonly GoldenCase[];
}

/** Something computed that stands against an expected output; a bare number has shape [1]. */
export type Computed = { readonly data: ArrayLike<number>; readonly shape: readonly number[] } | number;

/** One case being run: hands out its inputs and parameters and knows in the end what was never used. */
export class GoldenRun {
  readonly #case: GoldenCase;
  readonly #used = new Set<string>();
  readonly #compared = new Set<string>();

  constructor(golden: GoldenCase) {
    this.#case = golden;
  }

  get name(): string {
    return this.#case.name;
  }

  expects(output: string): boolean {
    return output in this.#case.outputs;
  }

  has(name: string): boolean {
    return name in this.#case.inputs;
  }

  /** A float32 input. */
  tensor(name: string): Tensor {
    const { dtype, shape, data } = this.#input(name);
    expect(dtype, name).toBe("float32");
    return { data: Float32Array.from(data, Number), shape };
  }

  /** An int32 input. */
  integers(name: string): { data: Int32Array; shape: readonly number[] } {
    const { dtype, shape, data } = this.#input(name);
    expect(dtype, name).toBe("int32");
    return { data: Int32Array.from(data, Number), shape };
  }

  /** A boolean or float32 input as a mask, with the booleans turned round where the file means "left out". */
  mask(
    name: string,
    meaning: "true = takes part" | "true = left out" = "true = takes part",
  ): BoolTensor | Tensor {
    const { dtype, shape, data } = this.#input(name);
    if (dtype === "float32") {
      return { data: Float32Array.from(data, Number), shape };
    }
    expect(dtype, name).toBe("bool");
    const yes = meaning === "true = takes part" ? 1 : 0;
    return { data: Uint8Array.from(data, (value) => (value === 1 ? yes : 1 - yes)), shape };
  }

  /** A float mask less the largest bias of each row: in exact arithmetic the softmax is the same. */
  #shiftedMask(name: string): Tensor {
    const { data, shape } = this.tensor(name);
    const keys = shape.at(-1) as number;
    const largest = (i: number) => Math.max(...data.subarray(i - (i % keys), i - (i % keys) + keys));
    return { data: data.map((bias, i) => bias - largest(i)), shape };
  }

  /** A mask of scaled dot-product attention. Where it was added in float64, −1e9 swallowed no score. */
  scoreMask(name: string): BoolTensor | Tensor {
    return this.param("precision") === "float64" ? this.#shiftedMask(name) : this.mask(name);
  }

  /** The value of a parameter; undefined for null, which means the default. */
  param(name: string): unknown {
    this.#used.add(`params.${name}`);
    return this.#case.params[name] ?? undefined;
  }

  number(name: string): number {
    const value = this.param(name);
    expect(typeof value, name).toBe("number");
    return value as number;
  }

  flag(name: string): boolean {
    const value = this.param(name);
    expect(typeof value, name).toBe("boolean");
    return value as boolean;
  }

  compare(name: string, computed: Computed): void {
    const want = this.#case.outputs[name];
    if (want === undefined) {
      throw new Error(`${this.#case.name} has no output ${name}`);
    }
    this.#compared.add(name);
    const got = typeof computed === "number" ? { data: [computed], shape: [] } : computed;
    expect(got.shape.length === 0 ? [1] : got.shape, name).toEqual(want.shape);
    expectClose(got.data, want.data.map(Number), this.#case.tolerance);
  }

  /** Fails unless every input and parameter was used and every output compared. */
  finish({ informative }: { informative: readonly string[] }): void {
    const given = [
      ...Object.keys(this.#case.inputs).map((name) => `inputs.${name}`),
      ...Object.keys(this.#case.params).map((name) => `params.${name}`),
    ];
    const unused = given.filter((name) => !this.#used.has(name) && !informative.includes(name));
    expect(unused, "inputs and parameters that the test does not use").toEqual([]);
    expect([...this.#compared].sort()).toEqual(Object.keys(this.#case.outputs).sort());
  }

  #input(name: string): GoldenArray {
    const input = this.#case.inputs[name];
    if (input === undefined) {
      throw new Error(`${this.#case.name} has no input ${name}`);
    }
    this.#used.add(`inputs.${name}`);
    return input;
  }
}
