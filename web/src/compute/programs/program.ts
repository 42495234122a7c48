import type { Bits, Edit } from "../../state/codec.ts";

/** An input of a program: a number, or a matrix or row that is given, or drawn from a seed. */
export type Input = { name: string } & (
  | { value: number }
  | { shape: readonly number[]; numbers: readonly number[] }
  | { shape: readonly number[]; bits: Bits }
  | { shape: readonly number[]; seed: number }
);

/** When a mask is put on: before the softmax, or (wrongly) after it. */
export type Order = "before" | "after";

/** Attention of q, k and v. */
export interface AttentionRun {
  kind: "attention";
  q: string;
  k: string;
  v: string;
  mask?: string;
  order?: Order;
  /** What scores are divided by instead of √d_k; undivided is 1. */
  divisor?: string;
  output: boolean;
  /** Prints the largest weight and the entropy of each row too. */
  sharpness?: boolean;
}

/** A table of counts, a line for each size, the reader's own last. */
export interface CountsRun<Kind> {
  kind: Kind;
  sizes: readonly number[];
}

/** One run of a computation. Each prints its passes. */
export type Run =
  | AttentionRun
  /** A softmax over scores that are given. */
  | { kind: "softmax"; scores: string; mask?: string; order?: Order }
  /** The lookup that sees the best entries only. */
  | { kind: "hard"; q: string; k: string; v: string }
  /** Additive attention with the parameters W, U, b and v. */
  | { kind: "additive"; q: string; k: string; v: string }
  /** Linear attention, causal. */
  | { kind: "linear" }
  /** Dot products of drawn pairs at several widths. */
  | { kind: "draws"; widths: readonly number[]; pairs: number; seed: number }
  /** A layer of heads over x, its matrices wq, wk, wv and wo [out, in], and what is made of it besides. */
  | { kind: "heads"; besides?: "silence" | "loop" | "view" | "skew" }
  /** MiniMind's forward over x, padded by keep, in one call or, with `past` tokens, in two against a cache. */
  | { kind: "minimind"; edits: readonly Edit[]; padded: boolean; cached: boolean }
  | CountsRun<"operations">
  | CountsRun<"scoreTable">
  | CountsRun<"matrices">
  | { kind: "calculator" }
  | { kind: "window" };

/** What a step computes, in no language yet; see export/code.ts. */
export interface Program {
  inputs: readonly Input[];
  runs: readonly Run[];
}
