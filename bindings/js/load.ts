import { binaryAt, defaultBinary } from "#binary";
import { AttentionError } from "./error.js";
import createModule from "./softlookup.glue.js";
import type { Raw } from "./raw.js";
import { softlookupOver } from "./softlookup.js";
import type { Softlookup } from "./types.js";

export { AttentionError } from "./error.js";
export type * from "./types.js";

export interface LoadOptions {
  /** Where the binary is or what it is. Default: softlookup.wasm beside this module. */
  wasm?: string | URL | BufferSource | Response | WebAssembly.Module | undefined;
}

/**
 * A new instance with a memory of its own.
 * @throws AttentionError LOAD, once, when the binary is missing, truncated, or something else
 */
export async function load({ wasm }: LoadOptions = {}): Promise<Softlookup> {
  try {
    const module = await compile(wasm ?? (await defaultBinary()));
    return softlookupOver(await instantiate(module));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AttentionError("LOAD", `softlookup.wasm: ${reason}`, { cause });
  }
}

async function compile(wasm: NonNullable<LoadOptions["wasm"]>): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) {
    return wasm;
  }
  if (typeof wasm === "string" || wasm instanceof URL) {
    return compile(await binaryAt(wasm));
  }
  if (wasm instanceof Response) {
    if (!wasm.ok) {
      throw new Error(`${wasm.url} answered ${wasm.status}`);
    }
    const streams = wasm.headers.get("Content-Type") === "application/wasm";
    return streams ? WebAssembly.compileStreaming(wasm) : WebAssembly.compile(await wasm.arrayBuffer());
  }
  return WebAssembly.compile(wasm);
}

/** The glue loses a failed instantiation, so it is caught here. */
function instantiate(module: WebAssembly.Module): Promise<Raw> {
  return new Promise((resolve, reject) => {
    let memory: WebAssembly.Memory;
    const instantiateWasm: Parameters<typeof createModule>[0]["instantiateWasm"] = (imports, receive) => {
      WebAssembly.instantiate(module, imports)
        .then((instance) => {
          memory = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory)!;
          receive(instance, module); // throws for a module that is none of ours
        })
        .catch(reject);
      return {};
    };
    createModule({ instantiateWasm }).then((raw) => {
      resolve(Object.assign(raw, { memory }));
    }, reject);
  });
}
