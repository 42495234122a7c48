import { isNode } from "../environment.mjs";
import * as jax from "./jax.mjs";
import * as onnxruntime from "./onnxruntime.mjs";
import * as plain from "./plain.mjs";
import * as softlookup from "./softlookup.mjs";
import * as tfjs from "./tfjs.mjs";

/**
 * Each imports its library and resolves to a function of a workload's shape and inputs, which gives (or resolves to)
 * candidates: { peer, form?, headsLast?, open }, where `open` makes (or resolves to) a contender of measure.mjs with
 * `dispose`. What `run` returns, or resolves to, is the output [H, L, E], [L, H, E] if `headsLast`, [L, D] of a layer.
 */
export const loaders = {
  softlookup: softlookup.load,
  "onnxruntime-web": onnxruntime.loadWeb,
  "jax-js wasm": jax.load,
  "tfjs wasm": tfjs.load,
  "plain JavaScript": plain.load,
  ...(isNode && { "onnxruntime-node (native)": onnxruntime.loadNative }),
};

/** Those that bring WebAssembly along. */
export const libraries = ["softlookup", "onnxruntime-web", "jax-js wasm", "tfjs wasm"];
