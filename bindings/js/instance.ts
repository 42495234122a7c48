import { load } from "./load.js";

/** The instance behind the entries that are ready when imported: one memory for all of them. */
export const instance = await load();
