import type { Raw } from "./raw.js";
import { arrayKindOf, copyInto, lengthOf } from "./typed-array.js";
import type { AttentionCallOptions, AttentionResult, TensorLike } from "./types.js";

const causalities: readonly unknown[] = [false, true, "top-left", "bottom-right"]; // in C++'s order

/** Floats; more would leave no room for anything else in 4 GiB. */
const mostFloats = 2 ** 29;

interface Plain {
  data: Float32Array;
  /** What its shape holds. */
  count: number;
  rank: number;
  /** The shape as [B, H, L, E]. */
  sizes: [number, number, number, number];
}

/** A Float32Array that its shape of 2 to 4 whole sizes fills; nothing for anything else. */
function plain(input: TensorLike): Plain | undefined {
  const { data, shape, stride } = Object(input) as { data?: unknown; shape?: unknown; stride?: unknown };
  if (arrayKindOf(data) !== "Float32Array" || !Array.isArray(shape) || stride !== undefined) return undefined;
  const rank = shape.length;
  if (rank < 2 || rank > 4) return undefined;
  const sizes: Plain["sizes"] = [1, 1, 1, 1];
  let count = 1;
  for (let axis = 0; axis < rank; axis++) {
    const size = (shape as number[])[axis] as number;
    if (size >>> 0 !== size) return undefined;
    sizes[4 - rank + axis] = size;
    count *= size;
  }
  return { data: data as Float32Array, count, rank, sizes };
}

const isFilled = ({ data, count }: Plain): boolean => lengthOf(data) === count;

/** For a few numbers, a typed array's own copying takes longer to begin than to copy. */
const few = 64;

/**
 * Attention by numbers alone, for calls that want nothing but `causal`, `scale` and `out`: no object crosses to the
 * core. Answers nothing where a call wants more or is wrong in any way; the adapters then do it, or say what is wrong.
 */
export function directAttention(raw: Raw) {
  let memory = new Float32Array(0);
  const smallRoom = raw._attentionRoom(0);
  raw._attendInRoom(0, 1, 1, 0, 0, 1, 1, 0, 1); // of no batch row
  // Now that both were called, WebAssembly's own functions stand there; the glue's stubs would double a small call.
  const { _attentionRoom: attentionRoom, _attendInRoom: attendInRoom } = raw;
  /** Once memory has grown, its old arrays are empty. */
  const floats = () => (memory.length > 0 ? memory : (memory = new Float32Array(raw.memory.buffer)));

  function copyIn({ data: from, count }: Plain, at: number): void {
    const to = floats();
    if (count > few) copyInto(to, from, at);
    else for (let i = 0; i < count; i++) to[at + i] = from[i] as number;
  }
  function copyOut(to: Float32Array, count: number, at: number): void {
    const from = floats();
    if (count > few) copyInto(to, from.subarray(at, at + count));
    else for (let i = 0; i < count; i++) to[i] = from[at + i] as number;
  }

  return (
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    options: AttentionCallOptions | undefined,
  ): AttentionResult | undefined => {
    if (options === null || (typeof options !== "object" && options !== undefined)) return undefined;
    for (const name in options) {
      if (name !== "causal" && name !== "scale" && name !== "out") return undefined;
    }
    const { causal = false, scale, out } = options ?? {};
    const causality = causalities.indexOf(causal);
    const q = plain(query);
    const k = plain(key);
    const v = plain(value);
    if (q === undefined || k === undefined || v === undefined || causality < 0) return undefined;
    if (scale !== undefined && !Number.isFinite(scale)) return undefined;

    const [batch, heads, queries, headDim] = q.sizes;
    const [, kvHeads, keys] = k.sizes;
    const valueDim = v.sizes[3];
    const size = batch * heads * queries * valueDim;
    const outAt = q.count + k.count + v.count;
    // From here on no code of the caller's runs, so that what is found to fit still does below.
    const fits =
      isFilled(q) &&
      isFilled(k) &&
      isFilled(v) &&
      k.rank === q.rank &&
      v.rank === q.rank &&
      k.sizes[0] === batch &&
      v.sizes[0] === batch &&
      v.sizes[1] === kvHeads &&
      v.sizes[2] === keys &&
      k.sizes[3] === headDim &&
      (out === undefined || (arrayKindOf(out) === "Float32Array" && lengthOf(out) === size));
    if (!fits || outAt + size > mostFloats) return undefined;

    const address = attentionRoom(outAt + size);
    if (address === 0) return undefined;
    const room = address >>> 2;
    try {
      copyIn(q, room);
      copyIn(k, room + q.count);
      copyIn(v, room + q.count + k.count);
      if (!attendInRoom(batch, heads, kvHeads, queries, keys, headDim, valueDim, causality, scale ?? NaN)) {
        return undefined;
      }
      const data = out ?? new Float32Array(size);
      copyOut(data, size, room + outAt);
      const shape = q.sizes.slice(4 - q.rank);
      shape[shape.length - 1] = valueDim;
      return { output: { data, shape } };
    } finally {
      if (address !== smallRoom) attentionRoom(0);
    }
  };
}
