// Attention by PyTorch's names, defaults and polarity: code ports by changing the import.

import { AttentionError, renaming } from "./error.js";
import { instance } from "./instance.js";
import { requireKnown } from "./options.js";
import { toRawMask, toRawTensor } from "./tensor.js";
import type { MaskLike, MultiHeadAttention, Tensor, TensorLike } from "./types.js";

export { AttentionError } from "./error.js";
export type { MaskLike, Tensor, TensorLike } from "./types.js";

const torchNames = { q: "query", k: "key", v: "value", mask: "attnMask", keyMask: "keyPaddingMask" };

// --- torch.nn.functional.scaled_dot_product_attention ---------------------------------------------

export interface ScaledDotProductAttentionOptions {
  /** Broadcasts to [B, H, L, S]. Boolean: true = may attend. Float32: added to the scores. */
  attnMask?: MaskLike | null | undefined;
  /** Only 0, the default: dropout belongs to training. */
  dropoutP?: number | undefined;
  /** Query i sees keys 0 … i, also where L ≠ S. Not together with attnMask. Default false. */
  isCausal?: boolean | undefined;
  /** Default 1/√E. */
  scale?: number | null | undefined;
  /** Allow fewer key/value heads than query heads. Default false. */
  enableGqa?: boolean | undefined;
}

/**
 * torch.nn.functional.scaled_dot_product_attention.
 *
 * @param query [B, Hq, L, E], [H, L, E] or [L, E]
 * @param key [B, H, S, E]
 * @param value [B, H, S, Ev]
 * @returns [B, Hq, L, Ev]; a row that may attend nothing is 0
 * @throws AttentionError SHAPE, RANK, DTYPE, MASK_SHAPE, MASK_VALUE, HEADS, OPTION
 */
export function scaledDotProductAttention(
  query: TensorLike,
  key: TensorLike,
  value: TensorLike,
  options: ScaledDotProductAttentionOptions = {},
): Tensor {
  requireKnown(options, ["attnMask", "dropoutP", "isCausal", "scale", "enableGqa"]);
  const isCausal = flag(options.isCausal, "isCausal", false);
  const enableGqa = flag(options.enableGqa, "enableGqa", false);
  if (options.dropoutP !== undefined && options.dropoutP !== 0) {
    throw new AttentionError(
      "OPTION",
      `dropoutP = ${options.dropoutP}: only 0 is possible, nothing is trained here`,
    );
  }
  if (isCausal && options.attnMask != null) {
    throw new AttentionError("OPTION", "isCausal must be false where an attnMask is given");
  }
  const [q, k, v] = [toRawTensor(query, "query"), toRawTensor(key, "key"), toRawTensor(value, "value")];
  if (!enableGqa && q.shape.at(-3) !== k.shape.at(-3)) {
    const shapes = `query [${q.shape.join(", ")}], key [${k.shape.join(", ")}]`;
    throw new AttentionError("HEADS", `${shapes}: different numbers of heads want enableGqa`);
  }
  return renaming(torchNames, () =>
    instance.scaledDotProductAttention(q, k, v, {
      mask: options.attnMask ?? undefined,
      causal: isCausal ? "top-left" : false,
      scale: options.scale ?? undefined,
    }),
  ).output;
}

// --- torch.nn.MultiheadAttention ------------------------------------------------------------------

export interface MultiheadAttentionOptions {
  /** Of the training, and without effect here as in eval mode. Default 0. */
  dropout?: number | undefined;
  /** Default true. */
  bias?: boolean | undefined;
  /** Default false. */
  addBiasKv?: boolean | undefined;
  /** Default false. */
  addZeroAttn?: boolean | undefined;
  /** Default embedDim. */
  kdim?: number | null | undefined;
  /** Default embedDim. */
  vdim?: number | null | undefined;
  /** [B, L, D] instead of [L, B, D]. Default false. */
  batchFirst?: boolean | undefined;
}

export interface MultiheadAttentionCallOptions {
  /** [B, S], or [S] without batch axis. Boolean: true = ignore the key. Float32: added to its scores. */
  keyPaddingMask?: MaskLike | null | undefined;
  /** Default true. */
  needWeights?: boolean | undefined;
  /** [L, S] or [B·H, L, S]. Boolean: true = may NOT attend. Float32: added to the scores. */
  attnMask?: MaskLike | null | undefined;
  /** Weights [B, L, S] averaged over heads, instead of [B, H, L, S]. Default true. */
  averageAttnWeights?: boolean | undefined;
  /** A hint that attnMask, which must be given, is the causal mask; attnMask is what applies. Default false. */
  isCausal?: boolean | undefined;
}

/** torch.nn.MultiheadAttention in eval mode. */
export class MultiheadAttention implements Disposable {
  readonly embedDim: number;
  readonly numHeads: number;
  readonly batchFirst: boolean;
  readonly #attention: MultiHeadAttention;

  /** @throws AttentionError HEADS, OPTION */
  constructor(embedDim: number, numHeads: number, options: MultiheadAttentionOptions = {}) {
    requireKnown(options, ["dropout", "bias", "addBiasKv", "addZeroAttn", "kdim", "vdim", "batchFirst"]);
    const { dropout = 0, batchFirst, kdim, vdim, ...rest } = options;
    if (typeof dropout !== "number" || !(dropout >= 0 && dropout <= 1)) {
      throw new AttentionError("OPTION", `dropout = ${dropout} is not a probability`);
    }
    this.batchFirst = flag(batchFirst, "batchFirst", false);
    this.#attention = new instance.MultiHeadAttention({
      ...rest,
      embedDim,
      numHeads,
      kdim: kdim ?? undefined,
      vdim: vdim ?? undefined,
    });
    this.embedDim = embedDim;
    this.numHeads = numHeads;
  }

  /** All parameters under torch's names. Nothing changes when it throws. @throws AttentionError STATE_DICT, SHAPE, DTYPE, DISPOSED */
  loadStateDict(state: Readonly<Record<string, TensorLike>>): void {
    this.#attention.loadStateDict(state);
  }

  /**
   * query [L, B, D], key [S, B, kdim], value [S, B, vdim]; batch first with batchFirst; or without batch axis.
   * @returns the output, of query's layout, and the weights [B, L, S] or null. A row that may attend nothing has
   * weights 0, where torch has NaN.
   * @throws AttentionError SHAPE, RANK, DTYPE, MASK_SHAPE, MASK_VALUE, OPTION, STATE_DICT, DISPOSED
   */
  forward(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    options: MultiheadAttentionCallOptions = {},
  ): [Tensor, Tensor | null] {
    requireKnown(options, ["keyPaddingMask", "needWeights", "attnMask", "averageAttnWeights", "isCausal"]);
    const { keyPaddingMask, attnMask, averageAttnWeights } = options;
    if (flag(options.isCausal, "isCausal", false) && attnMask == null) {
      throw new AttentionError("OPTION", "isCausal is a hint about attnMask, which is missing");
    }
    const arrange = this.batchFirst ? (x: Tensor) => x : swapFirstAxes;
    const [q, k, v] = [toRawTensor(query, "query"), toRawTensor(key, "key"), toRawTensor(value, "value")].map(
      arrange,
    ) as [Tensor, Tensor, Tensor];
    const { output, weights } = renaming(torchNames, () =>
      this.#attention.forward(q, k, v, {
        keyMask: keyPaddingMask == null ? undefined : turnedRound(keyPaddingMask, "keyPaddingMask"),
        mask: attnMask == null ? undefined : this.#scoreMask(attnMask, q.shape, k.shape),
        needWeights: flag(options.needWeights, "needWeights", true),
        averageWeights: flag(averageAttnWeights, "averageAttnWeights", true),
      }),
    );
    return [arrange(output), weights ?? null];
  }

  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void {
    this.#attention.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** attnMask, the heads of one batch entry side by side, as a mask on [B, H, L, S]. */
  #scoreMask(attnMask: MaskLike, query: readonly number[], key: readonly number[]): MaskLike {
    const { data, shape } = turnedRound(attnMask, "attnMask");
    const batch = query.length === 3 ? (query[0] as number) : 1;
    const scores = [query.at(-2), key.at(-2)];
    const whole = [batch * this.numHeads, ...scores];
    const wanted = shape.length === 2 ? scores : whole;
    if (String(shape) !== String(wanted)) {
      throw new AttentionError(
        "MASK_SHAPE",
        `attnMask [${shape.join(", ")}], expected [L, S] = [${scores.join(", ")}] or [B·H, L, S] = [${whole.join(", ")}]`,
      );
    }
    return {
      data,
      shape: shape.length === 2 ? shape : [batch, this.numHeads, ...shape.slice(1)],
    } as MaskLike;
  }
}

/** torch's module means by true what must be left out; floats are added either way. */
function turnedRound(
  mask: MaskLike,
  name: string,
): { data: Uint8Array | Float32Array; shape: readonly number[] } {
  const { boolean, data, shape } = toRawMask(mask, name);
  return { data: boolean ? Uint8Array.from(data, (left) => (left === 0 ? 1 : 0)) : data, shape };
}

/** [L, B, D] ↔ [B, L, D]: the batch entries are what heads are elsewhere. Without batch axis as it is. */
function swapFirstAxes(x: Tensor): Tensor {
  const [first, second, width] = x.shape as [number, number, number];
  if (x.shape.length !== 3 || x.data.length === 0) {
    return x.shape.length === 3 ? { data: x.data, shape: [second, first, width] } : x;
  }
  const { data } = instance.splitHeads({ data: x.data, shape: [1, first, second * width] }, second);
  return { data, shape: [second, first, width] };
}

function flag(value: boolean | undefined, name: string, otherwise: boolean): boolean {
  if (value !== undefined && typeof value !== "boolean") {
    throw new AttentionError("OPTION", `${name} must be true or false`);
  }
  return value ?? otherwise;
}
