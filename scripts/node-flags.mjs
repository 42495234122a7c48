import { spawnSync } from "node:child_process";

const relaxedSimd = "--experimental-wasm-relaxed-simd";

/** What a Node that is started has to be told for relaxed SIMD: 20 wants to be asked, later ones may not know the question. */
export const relaxedFlags = () =>
  spawnSync(process.execPath, [relaxedSimd, "--eval", ""]).status === 0 ? [relaxedSimd] : [];
