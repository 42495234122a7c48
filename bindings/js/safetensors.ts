import { instance } from "./instance.js";

export { AttentionError } from "./error.js";
export type { ReadSafetensors, SafetensorsFile, Tensor } from "./types.js";

export const { readSafetensors } = instance;
