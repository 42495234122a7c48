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
  Tensor | ArrayHolder<Float32Array | Float64Array | readonly number[]> | NestedNumbers | Float32Array | Float64Array;

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

export interface AttentionOptions extends MaskOptions {
  /** Multiplies q·k. Default 1/√E. */
  scale?: number | undefined;
}

export interface AttentionCallOptions extends AttentionOptions {
  /** Return the weights [B, H, L, S] too. Default false. */
  needWeights?: boolean | undefined;
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
export type AttentionStep = "scores" | "scaled" | SoftmaxStep | "output";
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
  /** [B, 1, 1, S]: the first (`side` "right", the default: padding on the right) or last `lengths[b]` keys are real. */
  padding(lengths: readonly number[], S: number, options?: { side?: "left" | "right" | undefined }): BoolTensor;
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
  forward(query: TensorLike, key: TensorLike, value: TensorLike, options?: MultiHeadCallOptions): AttentionResult;
  trace(query: TensorLike, key: TensorLike, value: TensorLike, options?: MultiHeadOptions): Trace<MultiHeadStep>;
  /** Frees the memory; again is harmless; any other call after it throws DISPOSED. */
  dispose(): void;
}

export interface MultiHeadAttentionConstructor {
  new (config: MultiHeadAttentionConfig): MultiHeadAttention;
}

// --- leak check ---------------------------------------------------------------------------------

export type ReplacementMode = "random" | "large" | "permuted" | "nan";
export type SequenceInput = TensorLike | Readonly<Record<string, TensorLike>>;
/** The copy that `fn` gets of a SequenceInput: a Tensor, or a record of Tensors under the same names. */
export type SequenceCopy<Input> = Input extends Readonly<Record<string, TensorLike>>
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

export interface Softlookup {
  scaledDotProductAttention: ScaledDotProductAttention;
  softmax: Softmax;
  masks: Masks;
  MultiHeadAttention: MultiHeadAttentionConstructor;
  checkCausality: CheckCausality;
  faultyAttention: FaultyAttention;
  /** [B, L, H·E] → [B, H, L, E]. */
  splitHeads(x: TensorLike, numHeads: number): Tensor;
  /** [B, H, L, E] → [B, L, H·E]. */
  mergeHeads(x: TensorLike): Tensor;
  /** Sum over the last axis. */
  rowSums(x: TensorLike): Tensor;
  /** Independent normal numbers, the same for the same seed on every machine. */
  randomNormal(shape: readonly number[], seed: number): Tensor;
  /** Moments of all elements. */
  moments(x: TensorLike): MomentSummary;
  dotProductMoments(headDim: number, samples: number): DotProductMoments;
  cost: Cost;
  /** Bytes and objects held by this instance. */
  memoryUsage(): MemoryUsage;
}

