import type { CandidateName } from "../../content/faults.ts";
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

/** A size by one number or by several. */
export type Size = number | readonly number[];

/** A table of counts, a line for each size. */
export interface CountsRun<Kind> {
  kind: Kind;
  sizes: readonly Size[];
}

/** The leak lesson's sequence, drawn, with what was typed over. */
interface SequenceRun {
  edits: readonly Edit[];
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
  /** The last encoder output for every step of the decoder. */
  | { kind: "fixedContext" }
  /** Linear attention, causal. */
  | { kind: "linear" }
  /** Dot products of drawn pairs at several widths. */
  | { kind: "draws"; widths: readonly number[]; pairs: number; seed: number }
  /** The variance of as many dot products, before and after the scale. */
  | { kind: "variance"; widths: readonly number[]; pairs: number; seed: number }
  /** Entropy and largest weight on average, with and without the scale. */
  | { kind: "saturation"; widths: readonly number[]; queries: number; seed: number }
  /** The causal mask of the chunk of m that token t lies in, lined up with either corner. */
  | { kind: "chunkMask" }
  /** q, k and v all at once and through a cache, m tokens at a time. */
  | { kind: "decode" }
  /** A layer of heads over x, its matrices wq, wk, wv and wo [out, in], and what is made of it besides. */
  | { kind: "heads"; besides?: "silence" | "loop" | "view" | "skew" }
  /** The shapes of a layer's passes. */
  | { kind: "shapes" }
  /** MiniMind's forward over x, padded by keep, in one call or, with `past` tokens, in two against a cache. */
  | { kind: "minimind"; edits: readonly Edit[]; padded: boolean; cached: boolean }
  | CountsRun<"operations">
  | CountsRun<"scoreTable">
  | CountsRun<"matrices">
  | CountsRun<"nextToken">
  | CountsRun<"parameters">
  | { kind: "calculator" }
  | { kind: "cacheMemory" }
  | { kind: "window" }
  /** The sequence, and after a cut what was typed into its replacement. */
  | (SequenceRun & { kind: "sequence"; future?: readonly Edit[] })
  /** The leak check of candidates. */
  | (SequenceRun & { kind: "leakCheck"; candidates: readonly CandidateName[] });

/** What a step computes, in no language yet; see export/code.ts. */
export interface Program {
  inputs: readonly Input[];
  runs: readonly Run[];
}
