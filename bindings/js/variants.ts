import { linearOptions, toRawOptions } from "./options.js";
import type { Raw } from "./raw.js";
import { toRawTensor } from "./tensor.js";
import type { AdditiveAttention, AdditiveStep, LinearAttention, Trace } from "./types.js";

export function additiveAttentionOver(raw: Raw): AdditiveAttention {
  const attend: AdditiveAttention = (query, key, value, options) =>
    raw.attendAdditive(
      toRawTensor(query, "query"),
      toRawTensor(key, "key"),
      toRawTensor(value, "value"),
      toRawOptions(options, ["W", "U", "v", "b", "mask", "needWeights"]),
    );
  attend.trace = (query, key, value, options) =>
    raw.traceAdditive(
      toRawTensor(query, "query"),
      toRawTensor(key, "key"),
      toRawTensor(value, "value"),
      toRawOptions(options, ["W", "U", "v", "b", "mask"]),
    ) as Trace<AdditiveStep>;
  return attend;
}

export function linearAttentionOver(raw: Raw): LinearAttention {
  return (q, k, v, options) =>
    raw.attendLinear(
      toRawTensor(q, "q"),
      toRawTensor(k, "k"),
      toRawTensor(v, "v"),
      toRawOptions(options, linearOptions),
    );
}
