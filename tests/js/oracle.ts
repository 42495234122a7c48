// Attention in float64, straight from the formula. Nothing here comes from the package.

export interface Numbers {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** What is added to the score of query i and key j; -Infinity hides the key. */
export type Bias = (b: number, h: number, i: number, j: number) => number;

export interface Lookup {
  output: Float64Array; // [B, Hq, L, Ev]
  weights: Float64Array; // [B, Hq, L, S]
}

/** What is done to scores besides a bias. */
export interface Form {
  /** Default 1/√E. */
  scale?: number | undefined;
  softcap?: number | undefined;
  /** [Hq] */
  sinks?: ArrayLike<number> | undefined;
}

/** q [B, Hq, L, E], k [B, Hkv, S, E], v [B, Hkv, S, Ev] */
export function attend(q: Numbers, k: Numbers, v: Numbers, bias: Bias, form: Form = {}): Lookup {
  const [B, Hq, L, E] = sizes(q);
  const [, Hkv, S, Ev] = sizes(v);
  const { scale = 1 / Math.sqrt(E), softcap, sinks } = form;
  const capped = (score: number) => (softcap === undefined ? score : softcap * Math.tanh(score / softcap));
  const output = new Float64Array(B * Hq * L * Ev);
  const weights = new Float64Array(B * Hq * L * S);
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < Hq; h++) {
      const kv = b * Hkv + Math.floor((h * Hkv) / Hq);
      for (let i = 0; i < L; i++) {
        const row = (b * Hq + h) * L + i;
        const seen = Array.from({ length: S }, (_, j) => j).filter((j) => bias(b, h, i, j) !== -Infinity);
        const scores = seen.map(
          (j) => capped(scale * dot(q, row * E, k, (kv * S + j) * E, E)) + bias(b, h, i, j),
        );
        const sink = sinks === undefined ? [] : [read(sinks, h)]; // one more logit, whose weight goes nowhere
        softmax([...scores, ...sink]).forEach((weight, position) => {
          if (position === seen.length) {
            return;
          }
          const j = seen[position] as number;
          weights[row * S + j] = weight;
          for (let c = 0; c < Ev; c++) {
            output[row * Ev + c] = read(output, row * Ev + c) + weight * read(v.data, (kv * S + j) * Ev + c);
          }
        });
      }
    }
  }
  return { output, weights };
}

/** As in a textbook, without a guard: a row of -Infinity gives NaN. */
export function plainSoftmax(scores: readonly number[]): number[] {
  const exponentials = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return exponentials.map((value) => value / sum);
}

function softmax(scores: readonly number[]): number[] {
  return scores.length === 0 ? [] : plainSoftmax(scores);
}

/** Key j is visible to query i. */
export type Causality = "none" | "top-left" | "bottom-right";

export function isVisible(causality: Causality, L: number, S: number, i: number, j: number): boolean {
  const offset = { none: S, "top-left": 0, "bottom-right": S - L }[causality];
  return j <= i + offset;
}

/** The element of a mask that broadcasts to [B, H, L, S] by NumPy's rule. */
export function broadcast({ data, shape }: Numbers, place: readonly number[]): number {
  let offset = 0;
  shape.forEach((size, axis) => {
    const index = place[place.length - shape.length + axis] as number;
    offset = offset * size + (size === 1 ? 0 : index);
  });
  return read(data, offset);
}

/** Independent normal numbers from a 32-bit generator (mulberry32) and Box and Muller's transform. */
export function normalNumbers(count: number, seed: number): Float32Array {
  const uniform = uniformNumbers(seed);
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

export function uniformNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function dot(a: Numbers, fromA: number, b: Numbers, fromB: number, length: number): number {
  let sum = 0;
  for (let e = 0; e < length; e++) {
    sum += read(a.data, fromA + e) * read(b.data, fromB + e);
  }
  return sum;
}

function read(data: ArrayLike<number>, index: number): number {
  if (index >= data.length) {
    throw new RangeError(`element ${index} of ${data.length}`);
  }
  return data[index] as number;
}

function sizes({ shape }: Numbers): [number, number, number, number] {
  if (shape.length !== 4) {
    throw new RangeError(`expected 4 axes, not [${shape.join(", ")}]`);
  }
  return shape as [number, number, number, number];
}
