/// <reference lib="esnext.disposable" preserve="true" />
/** A row-major float32 tensor. */
export interface Tensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A row-major boolean tensor, one byte an element: 1 = true. */
export interface BoolTensor {
  readonly data: Uint8Array;
  readonly shape: readonly number[];
}

export type NestedNumbers = number | readonly NestedNumbers[];
export type NestedBooleans = boolean | readonly NestedBooleans[];

/** Anything that holds numbers in C order under `shape` (scijs) or `dims` (onnxruntime). */
export type ArrayHolder<Data> =
  | { readonly data: Data; readonly shape: readonly number[] }
  | { readonly data: Data; readonly dims: readonly number[] };

/** What is accepted wherever a float tensor is wanted. Float64 and plain numbers are rounded to float32. */
export type TensorLike =
  | Tensor
  | ArrayHolder<Float32Array | Float64Array | readonly number[]>
  | NestedNumbers
  | Float32Array
  | Float64Array;

/**
 * A mask. The array's type decides: bytes and booleans say who may attend (true = may), float32 is
 * added to the scores (-Infinity = may not). Broadcasts to [B, H, L, S] by NumPy's rule.
 */
export type MaskLike =
  BoolTensor | Tensor | ArrayHolder<Uint8Array | Float32Array> | NestedBooleans | Uint8Array | Float32Array;

/** How query 0 and key 0 are lined up where L and S differ. */
export type CausalAlignment = "top-left" | "bottom-right";

/** `true` wants L = S; for L ≠ S the alignment must be named. */
export type Causal = boolean | CausalAlignment;

/** Where a key may be attended to. Both kinds apply where both are given. */
export interface MaskOptions {
  mask?: MaskLike | undefined;
  causal?: Causal | undefined;
}

/** W: the query's own key and W − 1 before it. Or so many keys on each side; all where a side is left out. */
export type Window = number | { left?: number | undefined; right?: number | undefined };

export interface AttentionOptions extends MaskOptions {
  /** Multiplies q·k. Default 1/√E. */
  scale?: number | undefined;
  window?: Window | undefined;
  /** softcap · tanh(score / softcap), after the scale and before the mask (Gemma 2). */
  softcap?: number | undefined;
  /** [Hq]: one more logit a head in the softmax, without a column (gpt-oss): weights sum to less than 1. */
  sinks?: TensorLike | undefined;
  /** [Hq]: −slope · |distance| on each score (Press et al. 2022). */
  alibiSlopes?: TensorLike | undefined;
  /** For a window or ALiBi without causal where L ≠ S. */
  align?: CausalAlignment | undefined;
  /** [B]: the first so many keys are real; "bottom-right" then means the last of them. */
  keyLengths?: readonly number[] | undefined;
}

/** Which tokens of a chunk are real, where its rows are padded. */
export interface CacheChunk {
  /** [B]. Default all. */
  lengths?: readonly number[] | undefined;
  /** Where the padding is. Default "right". */
  side?: "left" | "right" | undefined;
}

export interface AttentionCallOptions extends AttentionOptions, CacheChunk {
  /**
   * Return the weights [B, H, L, S] too. Default false: the output comes from a tiled kernel that never holds them.
   * Asking for them changes no bit of the output; they cost a second computation, pass by pass.
   */
  needWeights?: boolean | undefined;
  /** Write the output here instead of into a fresh array. */
  out?: Float32Array | undefined;
  /** k and v are new tokens [B, Hkv, T, E]: attend over what the cache holds and them, and append them. `causal` counts from each row's past. */
  cache?: KVCache | undefined;
}

export interface AttentionResult {
  /** [B, Hq, L, Ev], or the rank of the input. */
  output: Tensor;
  /** [B, Hq, L, S]; present when `needWeights` was true. */
  weights?: Tensor;
}

/** One pass of a computation, in the order in which the core ran it. */
export interface TraceStep<Id extends string = string> {
  id: Id;
  /** The pass in one line of plain text, e.g. "exp(score − rowMax)". */
  formula: string;
  shape: readonly number[];
  tensor: Tensor;
}

export interface Trace<Id extends string = string> {
  steps: readonly TraceStep<Id>[];
}

export type SoftmaxStep = "masked" | "rowMax" | "exp" | "rowSum" | "weights";
/** "capped" only with a softcap. */
export type AttentionStep = "scores" | "scaled" | "capped" | SoftmaxStep | "output";
/** The wrong order, pass by pass: softmax first, then the mask. */
export type SoftmaxThenMaskStep = "rowMax" | "exp" | "rowSum" | "softmax" | "weights";
export type MultiHeadStep =
  | "query"
  | "key"
  | "value"
  | "queryHeads"
  | "keyHeads"
  | "valueHeads"
  | Exclude<AttentionStep, "output">
  | "heads"
  | "merged"
  | "output";

export interface ScaledDotProductAttention {
  /**
   * softmax(Q Kᵀ · scale + mask) V (Vaswani et al. 2017, §3.2.1).
   *
   * @param q [B, Hq, L, E], [H, L, E] or [L, E]
   * @param k [B, Hkv, S, E]; Hkv divides Hq; query head h reads key/value head ⌊h / (Hq / Hkv)⌋
   * @param v [B, Hkv, S, Ev]
   * @throws AttentionError SHAPE, RANK, DTYPE, MASK_SHAPE, MASK_VALUE, AMBIGUOUS_CAUSAL, HEADS, OPTION
   */
  (q: TensorLike, k: TensorLike, v: TensorLike, options?: AttentionCallOptions): AttentionResult;
  /** Every intermediate of the same computation; the same arguments and errors. */
  trace(q: TensorLike, k: TensorLike, v: TensorLike, options?: AttentionOptions): Trace<AttentionStep>;
}

export interface Softmax {
  /** Softmax over the last axis of scores [..., L, S] (a row [S] is accepted). A row without a permitted key is 0. */
  (scores: TensorLike, options?: MaskOptions): Tensor;
  trace(scores: TensorLike, options?: MaskOptions): Trace<SoftmaxStep>;
}

export interface Masks {
  /** [L, S]: query i may attend key j when j ≤ i (top-left) or j ≤ i + S − L (bottom-right). L ≠ S wants the alignment named. */
  causal(L: number, S?: number, align?: CausalAlignment): BoolTensor;
  /** [L, S]: what a sliding window lets through. L ≠ S wants the alignment named. */
  window(L: number, S: number | undefined, window: Window, align?: CausalAlignment): BoolTensor;
  /** [B, 1, 1, S]: the first (`side` "right", the default: padding on the right) or last `lengths[b]` keys are real. */
  padding(
    lengths: readonly number[],
    S: number,
    options?: { side?: "left" | "right" | undefined },
  ): BoolTensor;
  /** Every mask applies: boolean AND, or the sum of additive masks as soon as one is additive. */
  and(...masks: MaskLike[]): BoolTensor | Tensor;
  /** 0 where true, -Infinity where false. */
  toAdditive(mask: MaskLike): Tensor;
}

export interface MultiHeadAttentionConfig {
  /** D: width of query and output. */
  embedDim: number;
  /** H; divides embedDim. */
  numHeads: number;
  /** Default true. */
  bias?: boolean | undefined;
  /** Width of key. Default embedDim. */
  kdim?: number | undefined;
  /** Width of value. Default embedDim. */
  vdim?: number | undefined;
  /** One learned key and value after the last (torch's bias_k, bias_v). Default false. */
  addBiasKv?: boolean | undefined;
  /** One key and value of zeros after the last. Default false. */
  addZeroAttn?: boolean | undefined;
}

export interface MultiHeadOptions extends MaskOptions {
  /** [B, S] ([S] for unbatched input): which keys are real (boolean), or a bias on them (float32). */
  keyMask?: MaskLike | undefined;
}

export interface MultiHeadCallOptions extends MultiHeadOptions {
  /** Return the weights too. Default false. */
  needWeights?: boolean | undefined;
  /** Weights averaged over heads, [B, L, S], instead of [B, H, L, S]. Default true, as in torch. */
  averageWeights?: boolean | undefined;
  /** Compute with H small matrices, one head after the other, as the formula is written: slow, and an oracle. Default false. */
  headByHead?: boolean | undefined;
}

export interface MultiHeadAttention extends Disposable {
  readonly config: Required<MultiHeadAttentionConfig>;
  /** Number of trainable parameters; independent of numHeads. */
  readonly parameterCount: number;
  /**
   * Takes all parameters under torch.nn.MultiheadAttention's names: in_proj_weight [3D, D] or
   * q_proj_weight [D, D], k_proj_weight [D, kdim], v_proj_weight [D, vdim]; in_proj_bias [3D];
   * bias_k, bias_v [1, 1, D]; out_proj.weight [D, D]; out_proj.bias [D].
   * Nothing changes when it throws. @throws AttentionError STATE_DICT, SHAPE, DTYPE, DISPOSED
   */
  loadStateDict(state: Readonly<Record<string, TensorLike>>): void;
  /** query [B, L, D], key [B, S, kdim], value [B, S, vdim] → output [B, L, D]; without batch axis too. */
  forward(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    options?: MultiHeadCallOptions,
  ): AttentionResult;
  trace(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    options?: MultiHeadOptions,
  ): Trace<MultiHeadStep>;
  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void;
}

export interface MultiHeadAttentionConstructor {
  new (config: MultiHeadAttentionConfig): MultiHeadAttention;
}

// --- rotary embedding, norm -----------------------------------------------------------------------

/** Where tokens stand: a number for the first of a running range, or whole numbers [L] or [B, L], 0 to 2³¹ − 1. */
export type Positions =
  | number
  | readonly number[]
  | readonly (readonly number[])[]
  | Int32Array
  | Uint32Array
  | Float64Array
  | BigInt64Array
  | ArrayHolder<Int32Array | Uint32Array | Float64Array | BigInt64Array | readonly number[]>;

/** YaRN (Peng et al. 2023, §3.2), which stretches a trained context. */
export interface RopeScaling {
  type: "yarn";
  /** How many times longer the context became; 1 or more. */
  factor: number;
  /** The context of the training. */
  originalMaxPositions: number;
  /** Pairs that turn at least so often within that context stay as they are. Default 32. */
  betaFast?: number | undefined;
  /** Pairs that turn at most so often are slowed down by `factor`, with a ramp in between. Default 1. */
  betaSlow?: number | undefined;
  /** Multiplies cos and sin. Default 0.1 · ln(factor) + 1. */
  attentionFactor?: number | undefined;
}

/** The part of a rotary embedding that belongs to a model. */
export interface RopeConfig {
  /** Which features turn together: i and i + dims / 2 ("half": Llama, Qwen, MiniMind), or 2i and 2i + 1 ("interleaved": the paper, GPT-J). Never guessed. */
  layout: "half" | "interleaved";
  /** Default 10000. */
  theta?: number | undefined;
  /** How many features are rotated, from the first on; even. Default all. */
  dims?: number | undefined;
  scaling?: RopeScaling | undefined;
}

export interface RopeOptions extends RopeConfig {
  /** Default 0, 1, …, L − 1. */
  positions?: Positions | undefined;
  /** Turn back. Default false. */
  inverse?: boolean | undefined;
}

export interface Rope {
  /**
   * Rotary position embedding (Su et al. 2021, RoFormer, §3.4.2): pair i of the token at position p turns by
   * p · theta^(−2i / dims), (a, b) → (a cos − b sin, b cos + a sin). Angles are formed in double precision;
   * position 0 hands a token through to the bit. For q and k, never v.
   *
   * @param x [B, H, L, D], [H, L, D] or [L, D]
   * @throws AttentionError OPTION, SHAPE, RANK, DTYPE
   */
  (x: TensorLike, options: RopeOptions): Tensor;
}

export interface RopeTableOptions {
  /** [n] or [B, n]. */
  positions: Exclude<Positions, number>;
  dims: number;
  theta?: number | undefined;
  scaling?: RopeScaling | undefined;
}

export interface RopeTable {
  /** What rope multiplies with: cos and sin [n, dims / 2], and the angles at position 1 [dims / 2]. @throws AttentionError OPTION, SHAPE, DTYPE */
  (options: RopeTableOptions): { cos: Tensor; sin: Tensor; inverseFrequencies: Tensor };
}

export interface RmsNormOptions {
  /** [D]. Default none. */
  weight?: TensorLike | undefined;
  /** Default 1e-6. */
  eps?: number | undefined;
  /** Multiply with 1 + weight (Gemma). Default false. */
  unitOffset?: boolean | undefined;
}

// --- other attentions -----------------------------------------------------------------------------

export interface AdditiveParameters {
  /** [A, Dq] */
  W: TensorLike;
  /** [A, Dk] */
  U: TensorLike;
  /** [A] */
  v: TensorLike;
  /** [A]. Default none. */
  b?: TensorLike | undefined;
}

export interface AdditiveOptions extends AdditiveParameters {
  /** Broadcasts to [B, L, S]. */
  mask?: MaskLike | undefined;
}

export interface AdditiveCallOptions extends AdditiveOptions {
  /** Return the weights [B, L, S] too. Default false. */
  needWeights?: boolean | undefined;
}

/** W query + b and U key, their scores, the softmax, and the output. */
export type AdditiveStep = "query" | "key" | "scores" | SoftmaxStep | "output";

export interface AdditiveAttention {
  /**
   * Additive attention (Bahdanau et al. 2014, A.1.2): softmax(v · tanh(W query + U key + b) + mask) value.
   *
   * @param query [B, L, Dq] or [L, Dq]
   * @param key [B, S, Dk]
   * @param value [B, S, Ev]
   * @throws AttentionError SHAPE, RANK, DTYPE, OPTION, MASK_SHAPE, MASK_VALUE
   */
  (query: TensorLike, key: TensorLike, value: TensorLike, options: AdditiveCallOptions): AttentionResult;
  /** Every intermediate of the same computation; the same arguments and errors. */
  trace(query: TensorLike, key: TensorLike, value: TensorLike, options: AdditiveOptions): Trace<AdditiveStep>;
}

export interface LinearAttentionOptions {
  /** Query i sees keys 0 … i; wants L = S. Default false. */
  causal?: boolean | undefined;
  /** Boolean [B, S] ([S] for input without batch axis): which keys are real. */
  keyMask?: MaskLike | undefined;
  /** Added to the divisor. Default 0. */
  eps?: number | undefined;
}

export interface LinearAttention {
  /**
   * Linear attention (Katharopoulos et al. 2020): φ(q) · Σ φ(k) vᵀ / (φ(q) · Σ φ(k) + eps) with φ(x) = elu(x) + 1,
   * causal as running sums. A row whose divisor is 0 is 0. There are no weights to return.
   *
   * @param q [B, Hq, L, E], [H, L, E] or [L, E]
   * @param k [B, Hkv, S, E]; Hkv divides Hq
   * @param v [B, Hkv, S, Ev]
   * @throws AttentionError SHAPE, RANK, DTYPE, HEADS, OPTION, MASK_SHAPE, AMBIGUOUS_CAUSAL
   */
  (q: TensorLike, k: TensorLike, v: TensorLike, options?: LinearAttentionOptions): { output: Tensor };
}

// --- safetensors ----------------------------------------------------------------------------------

export interface SafetensorsFile {
  /** In the order of the bytes. */
  readonly names: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Copied out, F16 and BF16 as the float32 of the same value. @throws AttentionError STATE_DICT for an unknown name, DTYPE for another type */
  tensor(name: string): Tensor;
  /** All tensors whose names begin with `prefix`, without it: what loadStateDict takes. Default all. */
  tensors(prefix?: string): Record<string, Tensor>;
}

export interface ReadSafetensors {
  /**
   * The tensors of a safetensors file. The header is checked as a whole; the data is read when a tensor is asked
   * for, so leave `bytes` as they are until then.
   * @throws AttentionError FORMAT when the bytes are not such a file, with the tensor's name; DTYPE
   */
  (bytes: Uint8Array | ArrayBuffer): SafetensorsFile;
}

// --- grouped-query attention and its cache -----------------------------------------------------------

export interface KVCacheConfig {
  batch: number;
  numKvHeads: number;
  headDim: number;
  /** Tokens that each batch row can hold. */
  capacity: number;
}

/** Keys and values of the past, before heads are repeated; each batch row has a length of its own. */
export interface KVCache extends Disposable {
  /** Tokens held, by batch row. */
  readonly lengths: readonly number[];
  /** Tokens held by the longest row. */
  readonly length: number;
  readonly capacity: number;
  /** k and v [B, Hkv, T, E]. @throws AttentionError CACHE_FULL, SHAPE; nothing is written then */
  append(k: TensorLike, v: TensorLike, chunk?: CacheChunk): void;
  /** Forgets the oldest tokens of every row. Those that come keep their absolute positions. */
  dropOldest(count: number): void;
  /** Only ever on request. @throws AttentionError OPTION below the present capacity */
  grow(capacity: number): void;
  reset(): void;
  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void;
}

export interface KVCacheConstructor {
  new (config: KVCacheConfig): KVCache;
}

export interface GroupedQueryAttentionConfig {
  hiddenSize: number;
  /** Hq */
  numHeads: number;
  /** Hkv; divides numHeads. Default numHeads. */
  numKvHeads?: number | undefined;
  /** E. Default hiddenSize / numHeads. */
  headDim?: number | undefined;
  /** RMSNorm of q and k over the head dim, before RoPE. Default false; eps 1e-6 where it is not named. */
  qkNorm?: boolean | { eps?: number | undefined } | undefined;
  /** Of q and k, never v. Default none. */
  rope?: RopeConfig | false | undefined;
  /** On every projection, or on q, k and v only (Qwen2). Default false. */
  bias?: boolean | "qkv" | undefined;
}

export interface GroupedQueryOptions extends CacheChunk {
  /** Default true. */
  causal?: boolean | undefined;
  /** [B, S] ([S] for unbatched input), S counting what the cache holds: which keys are real, or a bias on them. */
  keyMask?: MaskLike | undefined;
  /** Attend over what it holds too, and append the new keys and values. As before when anything throws. */
  cache?: KVCache | undefined;
  /** For RoPE. Default: on from the cache's, or from 0. */
  positions?: Positions | undefined;
}

export interface GroupedQueryCallOptions extends GroupedQueryOptions {
  /** Return the weights [B, Hq, L, S] too. Default false. */
  needWeights?: boolean | undefined;
  /**
   * The fast branch: a tiled kernel, in float32, that never holds the weights. Default true; false computes pass by
   * pass, as `trace` does, each pass adding up in double. The outputs agree to 2e-6 on unit-scale inputs.
   */
  fast?: boolean | undefined;
}

/** In the names of the lesson; q_norm and k_norm, q_rope and k_rope where configured. */
export type GroupedQueryStep =
  | "q_proj"
  | "k_proj"
  | "v_proj"
  | "xq"
  | "xk"
  | "xv"
  | "q_norm"
  | "k_norm"
  | "q_rope"
  | "k_rope"
  | "past_k"
  | "past_v"
  | "xk_repeat"
  | "xv_repeat"
  | "qk"
  | Exclude<AttentionStep, "scaled" | "output">
  | "head_out"
  | "merged"
  | "output";

/** Attention as in Llama, Qwen, Mistral and MiniMind. */
export interface GroupedQueryAttention extends Disposable {
  readonly hiddenSize: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly parameterCount: number;
  /**
   * q_proj.weight [Hq·E, hidden], k_proj.weight, v_proj.weight [Hkv·E, hidden], o_proj.weight [hidden, Hq·E], biases
   * where configured, q_norm.weight and k_norm.weight [E] with qkNorm. Nothing changes when it throws.
   * @throws AttentionError STATE_DICT, SHAPE, DTYPE, DISPOSED
   */
  loadStateDict(state: Readonly<Record<string, TensorLike>>): void;
  /** x [B, L, hidden] or [L, hidden] → output of the same shape. */
  forward(x: TensorLike, options?: GroupedQueryCallOptions): AttentionResult;
  trace(x: TensorLike, options?: GroupedQueryOptions): Trace<GroupedQueryStep>;
  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void;
}

export interface GroupedQueryAttentionConstructor {
  new (config: GroupedQueryAttentionConfig): GroupedQueryAttention;
}

// --- ONNX -----------------------------------------------------------------------------------------

/** Optional inputs may be left out or null. */
export interface OnnxAttentionInputs {
  /** [B, Hq, L, E], or [B, L, Hq·E] with q_num_heads. */
  Q: TensorLike;
  /** [B, Hkv, S, E], or [B, S, Hkv·E] with kv_num_heads; Hkv divides Hq. */
  K: TensorLike;
  /** [B, Hkv, S, Ev] or [B, S, Hkv·Ev] */
  V: TensorLike;
  /**
   * 1 to 4 axes, broadcasts to [B, Hq, L, T], T = past + S; true = may attend, floats are added. A last axis
   * shorter than T, one of 1 too, hides the keys that it does not reach.
   */
  attn_mask?: MaskLike | null | undefined;
  /** [B, Hkv, past, E], together with past_value. */
  past_key?: TensorLike | null | undefined;
  /** [B, Hkv, past, Ev] */
  past_value?: TensorLike | null | undefined;
  /** [B]: the first so many keys are real; not together with a past. */
  nonpad_kv_seqlen?: Exclude<Positions, number> | null | undefined;
}

export interface OnnxAttentionAttributes {
  /** 1: query i sees keys up to i + past, or i + nonpad_kv_seqlen − L, or i. Default 0. */
  is_causal?: 0 | 1 | boolean | undefined;
  /** Default 1/√E. */
  scale?: number | undefined;
  /** softcap · tanh(score / softcap), before the mask. Default 0: none. */
  softcap?: number | undefined;
  /** Wanted for inputs of 3 axes. */
  q_num_heads?: number | undefined;
  kv_num_heads?: number | undefined;
  /** So many keys before the query's own; negative (the default): all. */
  left_window_size?: number | undefined;
  /** So many keys after the query's own; negative (the default): all. */
  right_window_size?: number | undefined;
  /** Named, it asks for qk_matmul_output: 0 scaled scores, 1 after softcap, 2 with the mask, 3 after softmax. */
  qk_matmul_output_mode?: 0 | 1 | 2 | 3 | undefined;
  /** A float type by its number in TensorProto. Without effect: the softmax runs in double precision anyway. */
  softmax_precision?: number | undefined;
}

export interface OnnxAttentionOutputs {
  /** Of Q's layout, with Ev for E. A row that may attend nothing is 0. */
  Y: Tensor;
  /** [B, Hkv, T, E]; present with a past. */
  present_key?: Tensor;
  present_value?: Tensor;
  /** [B, Hq, L, T]; present when qk_matmul_output_mode was named. */
  qk_matmul_output?: Tensor;
}

export interface OnnxRotaryEmbeddingInputs {
  /** [B, H, L, D], or [B, L, H·D] with num_heads. */
  input: TensorLike;
  /** [positions, dims / 2] with position_ids, else [B, L, dims / 2]. */
  cos_cache: TensorLike;
  sin_cache: TensorLike;
  /** [B, L]: rows of the caches. */
  position_ids?: Exclude<Positions, number> | null | undefined;
}

export interface OnnxRotaryEmbeddingAttributes {
  /** 1: features 2i and 2i + 1 turn together; 0 (the default): i and i + dims / 2. */
  interleaved?: 0 | 1 | boolean | undefined;
  /** Wanted for input of 3 axes. */
  num_heads?: number | undefined;
  /** dims: so many leading features are rotated. Default 0: all. */
  rotary_embedding_dim?: number | undefined;
}

export interface OnnxRMSNormalizationAttributes {
  /** First of the axes that are normalised over, negative from the end. Default -1. */
  axis?: number | undefined;
  /** Default 1e-5. */
  epsilon?: number | undefined;
  /** A float type by its number in TensorProto. Without effect: the mean runs in double precision anyway. */
  stash_type?: number | undefined;
}

/** Operators of ONNX, opset 23 to 25. All throw AttentionError RANK, SHAPE, DTYPE, HEADS, OPTION. */
export interface OnnxOperators {
  /** Also MASK_SHAPE and MASK_VALUE. */
  Attention(inputs: OnnxAttentionInputs, attributes?: OnnxAttentionAttributes): OnnxAttentionOutputs;
  /** Of the shape of `input`. */
  RotaryEmbedding(inputs: OnnxRotaryEmbeddingInputs, attributes?: OnnxRotaryEmbeddingAttributes): Tensor;
  /** X / √(mean(X²) + epsilon) · scale, over the axes from `axis` on, to which `scale` broadcasts. */
  RMSNormalization(
    inputs: { X: TensorLike; scale: TensorLike },
    attributes?: OnnxRMSNormalizationAttributes,
  ): Tensor;
}

// --- leak check ---------------------------------------------------------------------------------

export type ReplacementMode = "random" | "large" | "permuted" | "nan";
export type SequenceInput = TensorLike | Readonly<Record<string, TensorLike>>;
/** The copy that `fn` gets of a SequenceInput: a Tensor, or a record of Tensors under the same names. */
export type SequenceCopy<Input> =
  Input extends Readonly<Record<string, TensorLike>>
    ? Input extends TensorLike
      ? Tensor
      : { [Name in keyof Input]: Tensor }
    : Tensor;

export interface CausalityOptions {
  /** Cuts t: tokens after t are replaced, outputs 0…t compared. Default every cut. */
  cuts?: readonly number[] | undefined;
  /** Default all four: "random" draws normal numbers × magnitude, "large" adds ± magnitude, "permuted" shuffles the future, "nan" fills it with NaN. */
  modes?: readonly ReplacementMode[] | undefined;
  /** Sizes for "random" and "large". Default [1, 100, 10000]. */
  magnitudes?: readonly number[] | undefined;
  /** Names of the inputs whose tokens are replaced. Default all of them. */
  replace?: readonly string[] | undefined;
  /** 0 (the default) compares to the bit; else absolute differences up to it are allowed. */
  tolerance?: number | undefined;
  /** Sequence axis of every input and of the output, negative from the end. Default -2. */
  axis?: number | undefined;
  seed?: number | undefined;
}

export interface Leak {
  cut: number;
  mode: ReplacementMode;
  /** Signed for "large" (the sign that showed it); null for "permuted" and "nan". */
  magnitude: number | null;
  /** Output positions ≤ cut that moved. */
  positions: readonly number[];
  /** Largest absolute difference; Infinity where a number became non-finite. */
  size: number;
}

export interface CausalityReport {
  /** No output moved when only later tokens changed, NaN poisoning included. */
  causal: boolean;
  /** "leak": finite replacements moved an output. "nan-poisoning": only NaN did. */
  verdict: "causal" | "leak" | "nan-poisoning";
  comparison: "bitwise" | "tolerance";
  tolerance: number;
  /** Sequence length. */
  length: number;
  /** First cut at which something leaked, or null. */
  firstCut: number | null;
  /** Moved by finite replacements. */
  leaks: readonly Leak[];
  /** Moved by NaN replacements only. */
  poisonings: readonly Leak[];
  /**
   * [length, length]: element (j, i) is the largest move of output i when token j alone was replaced
   * (finite modes); above 0 for i < j is a leak, for i ≥ j it is how attention works.
   */
  influence: Tensor;
  /** Output positions that ignore their own token: no leak, but a mask whose diagonal is off by one does this. */
  blind: readonly number[];
  /** How often fn was called. */
  calls: number;
}

export interface CheckCausality {
  /**
   * Replaces the future of `input` and watches whether outputs of the past move. `fn` may be sync or
   * async, and returns a tensor or an object with `output`.
   * @throws AttentionError FUNCTION when fn's result has no sequence of the same length, or differs between equal calls
   */
  <Input extends SequenceInput>(
    fn: (input: SequenceCopy<Input>) => unknown,
    input: Input,
    options?: CausalityOptions,
  ): Promise<CausalityReport>;
}

// --- deliberately wrong attentions ---------------------------------------------------------------

export type FaultName =
  | "no-mask"
  | "mask-after-softmax"
  | "diagonal-plus-one"
  | "diagonal-minus-one"
  | "transposed-mask"
  | "finite-sentinel"
  | "block-leak"
  | "tile-leak"
  | "cache-drops-mask"
  | "chunk-ignores-past"
  | "sequence-mean"
  | "one-head-unmasked"
  | "one-batch-row-unmasked";

export interface FaultyAttention {
  /** Causal attention [.., L, E] with one named fault; for showing and for testing leak checks. Never right. */
  (fault: FaultName, q: TensorLike, k: TensorLike, v: TensorLike): Tensor;
  readonly names: readonly FaultName[];
  /** The wrong order on scores: softmax over everything, then zeros at masked places. Rows sum to less than 1. */
  softmaxThenMask(scores: TensorLike, options?: MaskOptions): Trace<SoftmaxThenMaskStep>;
}

// --- the pool --------------------------------------------------------------------------------------

export interface PoolOptions {
  /** Default as many as the machine can keep busy. */
  workers?: number | undefined;
  /** As in `load`, for every worker. */
  simd?: Simd | undefined;
}

export interface PoolCallOptions {
  /** Aborted, the call rejects at once with the signal's reason. What a worker has begun it still ends, for nobody. */
  signal?: AbortSignal | undefined;
  /** After each share of the work. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Functions of the package over workers, with the same bits and the same errors, as rejections. Batch rows are shared out,
 * and heads: those of q that read the same head of k and v stay together. What goes in is copied.
 */
export interface Pool extends Disposable {
  /** How many there are. */
  readonly workers: number;
  /** Without a cache, which belongs to one instance. @throws AttentionError as the function, and LOAD, DISPOSED */
  scaledDotProductAttention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    options?: Omit<AttentionCallOptions, "cache" | keyof CacheChunk> & PoolCallOptions,
  ): Promise<AttentionResult>;
  /** @throws AttentionError as the function, and LOAD, DISPOSED */
  linearAttention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    options?: LinearAttentionOptions & PoolCallOptions,
  ): Promise<{ output: Tensor }>;
  /** Ends the workers; again is harmless. Calls under way and later ones reject with DISPOSED. */
  dispose(): void;
}

// --- small tools ----------------------------------------------------------------------------------

export interface MemoryUsage {
  /** MultiHeadAttention and other objects not yet disposed. */
  objects: number;
  /** Bytes allocated on the WebAssembly heap now. */
  allocated: number;
  /** Size of the WebAssembly memory in bytes. */
  total: number;
}

export interface MomentSummary {
  mean: number;
  /** Divided by n. */
  variance: number;
  /** Divided by n − 1. */
  varianceUnbiased: number;
}

export interface AttentionParameters {
  query: number;
  key: number;
  value: number;
  output: number;
  /** q-norm and k-norm weights. */
  norms: number;
  total: number;
}

/** Sizes and counts of the course's cost section; exact integers. */
export interface Cost {
  /** Trainable numbers of one attention layer; numKvHeads defaults to numHeads, headDim to modelDim / numHeads, bias and qkNorm to false. */
  parameters(layer: {
    modelDim: number;
    numHeads: number;
    numKvHeads?: number | undefined;
    headDim?: number | undefined;
    bias?: boolean | undefined;
    qkNorm?: boolean | undefined;
  }): AttentionParameters;
  /** The materialised [B, H, n, n] matrix. */
  scoresMemory(size: { length: number; numHeads: number; batch: number; bytesPerElement: number }): {
    elements: number;
    bytes: number;
  };
  /** Keys and values of every layer. */
  kvCacheMemory(size: {
    length: number;
    layers: number;
    numKvHeads: number;
    headDim: number;
    batch: number;
    bytesPerElement: number;
  }): { bytes: number };
  /** Operations of one whole sequence (a multiply and an add count as 2; softmax left out). */
  operations(size: { length: number; modelDim: number }): {
    qkvProjection: number;
    outputProjection: number;
    scores: number;
    weightedSum: number;
    attention: number;
    total: number;
    /** attention / total */
    attentionShare: number;
  };
  /** Operations of one new token against a cache that then holds `length` keys. */
  decodeOperations(size: { length: number; modelDim: number }): {
    projection: number;
    attention: number;
    total: number;
  };
}

/** Theory of q·k for independent standard normal entries. */
export interface DotProductMoments {
  variance: number;
  standardDeviation: number;
  /** After the division by √headDim. */
  varianceScaled: number;
  kurtosis: number;
  /** Of a variance estimated from `samples` pairs. */
  relativeStandardError: number;
}

/**
 * Which binary runs: "relaxed" fuses a multiplication and an addition into one rounding, by relaxed SIMD. Each has its
 * own bits, within the same error.
 */
export type Simd = "plain" | "relaxed";

export interface Softlookup {
  scaledDotProductAttention: ScaledDotProductAttention;
  softmax: Softmax;
  masks: Masks;
  MultiHeadAttention: MultiHeadAttentionConstructor;
  GroupedQueryAttention: GroupedQueryAttentionConstructor;
  KVCache: KVCacheConstructor;
  checkCausality: CheckCausality;
  faultyAttention: FaultyAttention;
  /** [B, L, H·E] → [B, H, L, E]. */
  splitHeads(x: TensorLike, numHeads: number): Tensor;
  /** [B, H, L, E] → [B, L, H·E]. */
  mergeHeads(x: TensorLike): Tensor;
  /** [B, Hkv, L, E] → [B, Hkv·n, L, E]: head h of the result is head ⌊h / n⌋. */
  repeatKv(x: TensorLike, n: number): Tensor;
  rope: Rope;
  ropeTable: RopeTable;
  /** Root mean square norm (Zhang & Sennrich 2019) over the last axis: x / √(mean(x²) + eps) · weight. @throws AttentionError SHAPE, RANK, DTYPE, OPTION */
  rmsNorm(x: TensorLike, options?: RmsNormOptions): Tensor;
  additiveAttention: AdditiveAttention;
  linearAttention: LinearAttention;
  readSafetensors: ReadSafetensors;
  onnx: OnnxOperators;
  /** Sum over the last axis. */
  rowSums(x: TensorLike): Tensor;
  /** Shannon entropy in bits of weights over the last axis. */
  rowEntropies(x: TensorLike): Tensor;
  /** The p of values that grow as sizes^p, by least squares over logarithms. @throws AttentionError SHAPE, OPTION, DTYPE */
  growthExponent(sizes: TensorLike, values: TensorLike): number;
  /** Independent normal numbers, the same for the same seed on every machine. */
  randomNormal(shape: readonly number[], seed: number): Tensor;
  /** Moments of all elements. */
  moments(x: TensorLike): MomentSummary;
  dotProductMoments(headDim: number, samples: number): DotProductMoments;
  cost: Cost;
  /** Bytes and objects held by this instance. */
  memoryUsage(): MemoryUsage;
  readonly simd: Simd;
}
