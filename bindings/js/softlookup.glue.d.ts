import type { Raw } from "./raw.js";

/** The factory that Emscripten generates. */
export default function createModule(options: {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}): Promise<Omit<Raw, "memory">>;
