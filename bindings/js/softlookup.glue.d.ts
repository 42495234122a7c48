import type { Border, Exports } from "./border.js";

/** The factory that Emscripten generates. */
export default function createModule(options: {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
  border: Border;
}): Promise<Exports>;
