import type { Raw } from "./raw.js";
import type { AttentionCallOptions, AttentionResult, TensorLike } from "./types.js";

const causalities: readonly unknown[] = [false, true, "top-left", "bottom-right"]; // in C++'s order

/** Floats; more would leave no room for anything else in 4 GiB. */
const mostFloats = 2 ** 29;

interface Plain {
  data: Float32Array;
  shape: readonly number[];
  /** The shape as [B, H, L, E]. */
  sizes: [number, number, number, number];
}

/** A Float32Array that its shape of 2 to 4 whole sizes fills; nothing for anything else. */
function plain(input: TensorLike): Plain | undefined {
  const { data, shape, stride } = Object(input) as { data?: unknown; shape?: unknown; stride?: unknown };
  if (!(data instanceof Float32Array && Array.isArray(shape)) || stride !== undefined) return undefined;
  const missing = 4 - shape.length;
  if (missing < 0 || missing > 2) return undefined;
  const sizes: Plain["sizes"] = [1, 1, 1, 1];
  let elements = 1;
  for (let axis = missing; axis < 4; axis++) {
    const size = (shape as number[])[axis - missing] as number;
    if (size >>> 0 !== size) return undefined;
    sizes[axis] = size;
    elements *= size;
  }
  return elements === data.length ? { data, shape: shape as number[], sizes } : undefined;
}

/** For a few numbers, a typed array's own copying takes longer to begin than to copy. */
function copy(from: Float32Array, start: number, to: Float32Array, at: number, count: number): void {
  if (count > 64) to.set(from.subarray(start, start + count), at);
  else for (let i = 0; i < count; i++) to[at + i] = from[start + i] as number;
}

/**
 * Attention by numbers alone, for calls that want nothing but `causal`, `scale` and `out`: no object crosses to the
 * core. Answers nothing where a call wants more or is wrong in any way; the adapters then do it, or say what is wrong.
 */
export function directAttention(raw: Raw) {
  let memory = new Float32Array(0);
  const smallRoom = raw._attentionRoom(0);
  /** Once memory has grown, its old arrays are empty. */
  const floats = () => (memory.length > 0 ? memory : (memory = new Float32Array(raw.memory.buffer)));

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
    const fits =
      k.shape.length === q.shape.length &&
      v.shape.length === q.shape.length &&
      k.sizes[0] === batch &&
      v.sizes[0] === batch &&
      v.sizes[1] === kvHeads &&
      v.sizes[2] === keys &&
      k.sizes[3] === headDim;
    const size = batch * heads * queries * valueDim;
    const outAt = q.data.length + k.data.length + v.data.length;
    if (!fits || outAt + size > mostFloats) return undefined;
    if (out !== undefined && !(out instanceof Float32Array && out.length === size)) return undefined;

    const address = raw._attentionRoom(outAt + size);
    if (address === 0) return undefined;
    const room = address >>> 2;
    try {
      copy(q.data, 0, floats(), room, q.data.length);
      copy(k.data, 0, memory, room + q.data.length, k.data.length);
      copy(v.data, 0, memory, room + q.data.length + k.data.length, v.data.length);
      if (
        !raw._attendInRoom(batch, heads, kvHeads, queries, keys, headDim, valueDim, causality, scale ?? NaN)
      ) {
        return undefined;
      }
      const data = out ?? new Float32Array(size);
      copy(floats(), room + outAt, data, 0, size);
      const shape = q.shape.slice();
      shape[shape.length - 1] = valueDim;
      return { output: { data, shape } };
    } finally {
      if (address !== smallRoom) raw._attentionRoom(0);
    }
  };
}
