import type { Bits } from "../../state/codec.ts";

/** An input of a program. */
export type Input = { name: string; shape: readonly [rows: number, cols: number] } & (
  { numbers: readonly number[] } | { bits: Bits }
);

/** When a mask is put on: before the softmax, or (wrongly) after it. */
export type Order = "before" | "after";

/** One run of attention, or of a softmax over scores that are given. Each prints its passes. */
export type Run = { mask?: string; order?: Order } & (
  | { kind: "attention"; q: string; k: string; v: string; output: boolean }
  | { kind: "softmax"; scores: string }
);

/** What a step computes, in no language yet; see export/code.ts. */
export interface Program {
  inputs: readonly Input[];
  runs: readonly Run[];
}
