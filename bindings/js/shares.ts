import type { RawMask, RawOptions, RawTensor } from "./raw.js";

/** A call's q, k and v ([B, H, L, E], [H, L, E] or [L, E]), and its options as the adapters want them. */
export interface Call {
  readonly tensors: readonly [RawTensor, RawTensor, RawTensor];
  readonly options: RawOptions;
  /** Of arrays that are nobody else's: they may be moved to a worker. */
  readonly buffers: readonly ArrayBuffer[];
}

/** The axes of what a call holds, of which leading ones may be absent. B: batch rows, H: heads of q, K: of k and v. */
const tensorAxes = ["BHLE", "BKSE", "BKSE"] as const;
const optionAxes: Readonly<Record<string, string>> = {
  mask: "BHLS",
  keyMask: "BS",
  sinks: "H",
  alibiSlopes: "H",
  keyLengths: "B",
};

type Sizes = Readonly<Partial<Record<string, number>>>;
type Ranges = Readonly<Partial<Record<string, readonly [from: number, to: number]>>>;
type Held = RawTensor | RawMask | { readonly data: readonly number[]; readonly shape: readonly number[] };

const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
const lettersOf = (axes: string, { shape }: Held) => [...axes.slice(axes.length - shape.length)];
/** Numbers of batch rows come as a bare list. */
const held = (value: unknown) =>
  (Array.isArray(value) ? { data: value as number[], shape: [value.length] } : value) as Held;
const bare = (value: Held) => (Array.isArray(value.data) ? value.data : value);

/** Whether axes B, H and K have these sizes, or 1 where that broadcasts, and the elements are all there. */
function fits(value: Held, axes: string, sizes: Sizes, broadcasts = false): boolean {
  const { data, shape } = value;
  return (
    shape.length <= axes.length &&
    data.length === elements(shape) &&
    lettersOf(axes, value).every((letter, i) => {
      const size = sizes[letter];
      return size === undefined || shape[i] === size || (broadcasts && shape[i] === 1);
    })
  );
}

/** A copy of what lies within the ranges: one batch row, of it some heads next to each other, and all of the rest. */
function cut(value: Held, axes: string, ranges: Ranges): Held {
  const { shape } = value;
  const within = lettersOf(axes, value).map((letter, i): readonly [number, number] => {
    const size = shape[i] as number;
    return size === 1 ? [0, 1] : (ranges[letter] ?? [0, size]);
  });
  const counts = within.map(([from, to]) => to - from);
  const start = within.reduce((sum, [from], i) => sum + from * elements(shape.slice(i + 1)), 0);
  return { ...value, data: value.data.slice(start, start + elements(counts)), shape: counts } as Held;
}

/**
 * About `wanted` calls whose results, one after the other, are that of `call`: batch rows apart, and query heads together
 * that read the same key/value head. The call itself where there is nothing to share out, or where something does not
 * fit, which the core says best.
 */
export function sharesOf(call: Call, wanted: number): readonly Call[] {
  const { out, ...options } = call.options as RawOptions & { out?: Float32Array };
  const [q, k, v] = call.tensors;
  const rank = q.shape.length;
  const [B, H] = [1, 1, ...q.shape].slice(-4) as [number, number];
  const K = [1, ...k.shape].at(-3) as number;
  const sizes = { B, H, K };
  const tensors = call.tensors.map((value, i) => ({ axes: tensorAxes[i] as string, value }));
  const arrays = Object.entries(optionAxes)
    .filter(([name]) => options[name] !== undefined)
    .map(([name, axes]) => ({ name, axes, value: held(options[name]) }));
  if (
    ![k, v].every(({ shape }) => shape.length === rank) ||
    ![2, 3, 4].includes(rank) ||
    !Number.isInteger(H / K) ||
    !Array.isArray(options["keyLengths"] ?? []) ||
    !tensors.every(({ axes, value }) => fits(value, axes, sizes)) ||
    !arrays.every(({ name, axes, value }) => fits(value, axes, sizes, name === "mask")) ||
    (out && out.length !== elements(q.shape.slice(0, -1)) * (v.shape.at(-1) as number)) ||
    B * K === 0
  ) {
    return [call];
  }
  const together = Math.min(Math.ceil((B * K) / wanted), K);
  const shares: Call[] = [];
  for (let row = 0; row < B; row++) {
    for (let from = 0; from < K; from += together) {
      const to = Math.min(from + together, K);
      const ranges: Ranges = { B: [row, row + 1], H: [(from * H) / K, (to * H) / K], K: [from, to] };
      const parts = tensors.map(({ axes, value }) => cut(value, axes, ranges));
      const named = arrays.map(({ name, axes, value }) => [name, cut(value, axes, ranges)] as const);
      shares.push({
        tensors: parts as unknown as Call["tensors"],
        options: { ...options, ...Object.fromEntries(named.map(([name, part]) => [name, bare(part)])) },
        buffers: [...parts, ...named.map(([, part]) => part)].flatMap(({ data }) =>
          ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : [],
        ),
      });
    }
  }
  return shares;
}
