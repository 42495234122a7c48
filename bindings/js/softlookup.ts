import { checkCausalityOver } from "./causality.js";
import { directAttention } from "./direct.js";
import { AttentionError } from "./error.js";
import { groupedQueryAttentionOver } from "./grouped-query.js";
import { cacheHandle, kvCacheOver } from "./kv-cache.js";
import { scalar, scalars } from "./message.js";
import { multiHeadAttentionOver } from "./multi-head.js";
import { onnxOver } from "./onnx-operators.js";
import { attentionOptions, toRawOptions, toWindow } from "./options.js";
import type { Raw } from "./raw.js";
import { ropeOver, ropeTableOver } from "./rope.js";
import { readSafetensorsOver } from "./safetensors-reader.js";
import { toRawMask, toRawTensor } from "./tensor.js";
import type {
  AttentionStep,
  Cost,
  FaultyAttention,
  Masks,
  ScaledDotProductAttention,
  Simd,
  Softlookup,
  Softmax,
  SoftmaxStep,
  SoftmaxThenMaskStep,
  Trace,
} from "./types.js";
import { additiveAttentionOver, linearAttentionOver } from "./variants.js";

/** Everything of the package over one instance of the core. */
export function softlookupOver(raw: Raw, simd: Simd): Softlookup {
  return {
    scaledDotProductAttention: attentionOver(raw),
    softmax: softmaxOver(raw),
    masks: masksOver(raw),
    MultiHeadAttention: multiHeadAttentionOver(raw),
    GroupedQueryAttention: groupedQueryAttentionOver(raw),
    KVCache: kvCacheOver(raw),
    checkCausality: checkCausalityOver(raw),
    faultyAttention: faultyAttentionOver(raw),
    splitHeads: (x, numHeads) => raw.splitIntoHeads(toRawTensor(x, "x"), scalar(numHeads)),
    mergeHeads: (x) => raw.mergeFromHeads(toRawTensor(x, "x")),
    repeatKv: (x, n) => raw.repeatHeads(toRawTensor(x, "x"), scalar(n)),
    rope: ropeOver(raw),
    ropeTable: ropeTableOver(raw),
    rmsNorm: (x, options) =>
      raw.normRows(toRawTensor(x, "x"), toRawOptions(options, ["weight", "eps", "unitOffset"])),
    additiveAttention: additiveAttentionOver(raw),
    linearAttention: linearAttentionOver(raw),
    readSafetensors: readSafetensorsOver(raw),
    onnx: onnxOver(raw),
    rowSums: (x) => raw.sumRows(toRawTensor(x, "x")),
    rowEntropies: (x) => raw.entropiesOfRows(toRawTensor(x, "x")),
    growthExponent: (sizes, values) =>
      raw.exponentOfGrowth(toRawTensor(sizes, "sizes"), toRawTensor(values, "values")),
    randomNormal: (shape, seed) => raw.normalNumbers(scalars(shape), scalar(seed)),
    moments: (x) => raw.momentsOf(toRawTensor(x, "x")),
    dotProductMoments: (headDim, samples) => raw.theoryOfDotProducts(scalar(headDim), scalar(samples)),
    cost: costOver(raw),
    memoryUsage: () => raw.memoryUsage(),
    simd,
  };
}

function attentionOver(raw: Raw): ScaledDotProductAttention {
  const direct = directAttention(raw);
  const attend: ScaledDotProductAttention = (q, k, v, options) => {
    const result = direct(q, k, v, options);
    if (result !== undefined) return result;
    const tensors = [toRawTensor(q, "q"), toRawTensor(k, "k"), toRawTensor(v, "v")] as const;
    const known = [...attentionOptions, "needWeights", "out", "cache", "lengths", "side"] as const;
    const { cache, ...rest } = toRawOptions(options, known, undefined, {
      cache: (value) => cacheHandle(raw, value),
    });
    // A cache knows how long its rows are, and only a chunk for it has padding.
    const misplaced = (cache === undefined ? ["lengths", "side"] : ["keyLengths"]).find(
      (name) => rest[name] !== undefined,
    );
    if (misplaced !== undefined) {
      const what = cache === undefined ? "wants a cache" : "does not go with a cache";
      throw new AttentionError("OPTION", `${misplaced} ${what}`);
    }
    return cache === undefined
      ? raw.attend(...tensors, rest)
      : raw.attendCached(cache as number, ...tensors, rest);
  };
  attend.trace = (q, k, v, options) =>
    raw.traceAttention(
      toRawTensor(q, "q"),
      toRawTensor(k, "k"),
      toRawTensor(v, "v"),
      toRawOptions(options, attentionOptions),
    ) as Trace<AttentionStep>;
  return attend;
}

function softmaxOver(raw: Raw): Softmax {
  const softmax: Softmax = (scores, options) =>
    raw.softmaxOf(toRawTensor(scores, "scores"), toRawOptions(options, ["mask", "causal"]));
  softmax.trace = (scores, options) =>
    raw.traceSoftmax(
      toRawTensor(scores, "scores"),
      toRawOptions(options, ["mask", "causal"]),
    ) as Trace<SoftmaxStep>;
  return softmax;
}

function masksOver(raw: Raw): Masks {
  return {
    causal: (L, S, align) => raw.makeCausalMask(scalar(L), scalar(S), scalar(align)),
    window: (L, S, window, align) =>
      raw.makeWindowMask(scalar(L), scalar(S), toWindow(window ?? null), scalar(align)),
    padding: (lengths, S, options) =>
      raw.makePaddingMask(scalars(lengths), scalar(S), toRawOptions(options, ["side"])["side"]),
    and: (...masks) => raw.andMasks(masks.map((mask, i) => toRawMask(mask, `masks[${i}]`))),
    toAdditive: (mask) => raw.additiveMask(toRawMask(mask, "mask")),
  };
}

function faultyAttentionOver(raw: Raw): FaultyAttention {
  const attend = (...[fault, q, k, v]: Parameters<FaultyAttention>) =>
    raw.attendWithFault(scalar(fault), toRawTensor(q, "q"), toRawTensor(k, "k"), toRawTensor(v, "v"));
  return Object.assign(attend, {
    names: raw.namesOfFaults(),
    softmaxThenMask: (...[scores, options]: Parameters<FaultyAttention["softmaxThenMask"]>) =>
      raw.traceSoftmaxThenMask(
        toRawTensor(scores, "scores"),
        toRawOptions(options, ["mask", "causal"]),
      ) as Trace<SoftmaxThenMaskStep>,
  });
}

function costOver(raw: Raw): Cost {
  return {
    parameters: (layer) =>
      raw.countParameters(
        toRawOptions(layer, ["modelDim", "numHeads", "numKvHeads", "headDim", "bias", "qkNorm"]),
      ),
    scoresMemory: (size) =>
      raw.countScoreMemory(toRawOptions(size, ["length", "numHeads", "batch", "bytesPerElement"])),
    kvCacheMemory: (size) =>
      raw.countKvCacheMemory(
        toRawOptions(size, ["length", "layers", "numKvHeads", "headDim", "batch", "bytesPerElement"]),
      ),
    operations: (size) => raw.countOperations(toRawOptions(size, ["length", "modelDim"])),
    decodeOperations: (size) => raw.countDecodeOperations(toRawOptions(size, ["length", "modelDim"])),
  };
}
