import type { Fault } from "./faults.ts";
import type { Text } from "./text.ts";

/** What each fault changes in the right attention, in one line. */
export const changes: Readonly<Record<Fault, Text>> = {
  "no-mask": { zh: "掩码整个没加", en: "the mask is not added at all" },
  "mask-after-softmax": {
    zh: "先 softmax，再把未来的权重改成 0",
    en: "softmax first, then weights of the future set to 0",
  },
  "diagonal-plus-one": {
    zh: "$j\\le i+1$，本该是 $j\\le i$",
    en: "$j\\le i+1$ where it should be $j\\le i$",
  },
  "diagonal-minus-one": {
    zh: "$j\\le i-1$，本该是 $j\\le i$",
    en: "$j\\le i-1$ where it should be $j\\le i$",
  },
  "transposed-mask": { zh: "$j\\ge i$：掩码转了置", en: "$j\\ge i$: the mask transposed" },
  "finite-sentinel": { zh: "$-10000$，本该是 $-\\infty$", en: "$-10000$ where it should be $-\\infty$" },
  "block-leak": {
    zh: "按 4 个一块比较：$\\lfloor j/4\\rfloor\\le\\lfloor i/4\\rfloor$",
    en: "compared by blocks of 4: $\\lfloor j/4\\rfloor\\le\\lfloor i/4\\rfloor$",
  },
  "tile-leak": {
    zh: "对角线所在的块之后，别的块没有跳过",
    en: "tiles beyond the one on the diagonal are not skipped",
  },
  "cache-drops-mask": {
    zh: "缓存不空时不再加掩码",
    en: "no mask is added once the cache holds something",
  },
  "chunk-ignores-past": {
    zh: "一批的掩码从键 0 数起，没有算上过去",
    en: "a chunk’s mask counts from key 0, not from the end of the past",
  },
  "sequence-mean": {
    zh: "输出减去了整个序列的均值",
    en: "the mean over the whole sequence is subtracted from the output",
  },
  "one-head-unmasked": { zh: "最后一个头没有掩码", en: "the last head has no mask" },
  "one-batch-row-unmasked": {
    zh: "批次里最后一个序列没有掩码",
    en: "the last sequence of the batch has no mask",
  },
};
