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

/** What a grouped-query attention is made of: weights [out, in], norms [E] where there are any. */
export interface GroupedQuery {
  numHeads: number;
  numKvHeads: number;
  headDim: number;
  query: Numbers;
  key: Numbers;
  value: Numbers;
  output: Numbers;
  norms?: { query: Numbers; key: Numbers; eps: number } | undefined;
  /** Features a and b of pair i at position p turn by p · theta^(−2i / dims). */
  rope?: { theta: number; dims: number; pair: (i: number) => [a: number, b: number] } | undefined;
}

/** Causal self-attention of x [L, hidden], the first token at position `start` -> [L, hidden] */
export function groupedQuery(layer: GroupedQuery, x: Numbers, start = 0): Float64Array {
  const { numHeads, numKvHeads, headDim: E, norms, rope } = layer;
  const L = x.shape[0] as number;
  const heads = (weight: Numbers, count: number, norm?: Numbers): Numbers => {
    const tokens = project(x, weight);
    const split = new Float64Array(tokens.length);
    for (let h = 0; h < count; h++) {
      for (let i = 0; i < L; i++) {
        const head = tokens.slice((i * count + h) * E, (i * count + h + 1) * E);
        if (norm && norms) {
          const size = Math.sqrt(head.reduce((sum, value) => sum + (value * value) / E, norms.eps));
          head.forEach((value, e) => {
            head[e] = (value / size) * read(norm.data, e);
          });
        }
        split.set(head, (h * L + i) * E);
      }
    }
    return { data: split, shape: [1, count, L, E] };
  };
  const turned = (head: Numbers): Numbers => {
    const data = Float64Array.from(head.data);
    for (let token = 0; rope && token < data.length / E; token++) {
      for (let pair = 0; pair < rope.dims / 2; pair++) {
        const [a, b] = rope.pair(pair).map((feature) => token * E + feature) as [number, number];
        const angle = (start + (token % L)) * rope.theta ** ((-2 * pair) / rope.dims);
        const [one, two] = [read(head.data, a), read(head.data, b)];
        data[a] = one * Math.cos(angle) - two * Math.sin(angle);
        data[b] = two * Math.cos(angle) + one * Math.sin(angle);
      }
    }
    return { data, shape: head.shape };
  };
  const q = turned(heads(layer.query, numHeads, norms?.query));
  const k = turned(heads(layer.key, numKvHeads, norms?.key));
  const v = heads(layer.value, numKvHeads);
  const { output } = attend(q, k, v, (_b, _h, i, j) => (j <= i ? 0 : -Infinity));
  const merged = new Float64Array(output.length);
  output.forEach((value, place) => {
    const [h, i, e] = [Math.floor(place / (L * E)), Math.floor(place / E) % L, place % E];
    merged[(i * numHeads + h) * E + e] = value;
  });
  return project({ data: merged, shape: [L, numHeads * E] }, layer.output);
}

/** x [L, in] and weight [out, in] -> [L, out] */
function project(x: Numbers, weight: Numbers): Float64Array {
  const [out, width] = weight.shape as [number, number];
  return Float64Array.from({ length: (x.shape[0] as number) * out }, (_, n) =>
    dot(x, Math.floor(n / out) * width, weight, (n % out) * width, width),
  );
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
