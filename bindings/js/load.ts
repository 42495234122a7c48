import { relaxedSimd } from "wasm-feature-detect";
import { binaryAt, defaultBinary } from "#binary";
import { Border } from "./border.js";
import { AttentionError } from "./error.js";
import createModule from "./softlookup.glue.js";
import type { Raw } from "./raw.js";
import { softlookupOver } from "./softlookup.js";
import type { Simd, Softlookup } from "./types.js";

export { AttentionError } from "./error.js";
export type * from "./types.js";

export interface LoadOptions {
  /** Where the binary is or what it is. Default: the one beside this module that `simd` names. */
  wasm?: string | URL | BufferSource | Response | WebAssembly.Module | undefined;
  /** Which of the package's own binaries; not together with `wasm`. Default "relaxed" where the engine can, else "plain". */
  simd?: Simd | undefined;
}

/**
 * A new instance with a memory of its own.
 * @throws AttentionError OPTION; LOAD, once, when the binary is missing, truncated, something else, or beyond the engine
 */
export async function load({ wasm, simd }: LoadOptions = {}): Promise<Softlookup> {
  if (![undefined, "plain", "relaxed"].includes(simd)) {
    throw new AttentionError("OPTION", `simd must be "plain" or "relaxed", not ${String(simd)}`);
  }
  if (wasm !== undefined && simd !== undefined) {
    throw new AttentionError("OPTION", "simd chooses among the package's own binaries, which wasm replaces");
  }
  const canRelax = await relaxedSimd();
  const chosen = simd ?? (canRelax ? "relaxed" : "plain");
  try {
    if (chosen === "relaxed" && !canRelax) {
      throw new Error("this engine has no relaxed SIMD");
    }
    const module = await compile(wasm ?? (await defaultBinary(chosen)));
    return softlookupOver(await instantiate(module), simdOf(module));
  } catch (cause) {
    const file = wasm === undefined && chosen === "relaxed" ? "softlookup.relaxed.wasm" : "softlookup.wasm";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AttentionError("LOAD", `${file}: ${reason}`, { cause });
  }
}

/** scripts/binaries.mjs leaves a section of that name. */
function simdOf(module: WebAssembly.Module): Simd {
  return WebAssembly.Module.customSections(module, "relaxed-simd").length > 0 ? "relaxed" : "plain";
}

async function compile(wasm: NonNullable<LoadOptions["wasm"]>): Promise<WebAssembly.Module> {
  if (wasm instanceof WebAssembly.Module) {
    return wasm;
  }
  if (typeof wasm === "string" || wasm instanceof URL) {
    return compile(await binaryAt(wasm));
  }
  if (ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) {
    return WebAssembly.compile(wasm);
  }
  // Not before: in Node the name alone loads all of fetch, which takes longer than everything here.
  if (wasm instanceof Response) {
    if (!wasm.ok) {
      throw new Error(`${wasm.url} answered ${wasm.status}`);
    }
    const streams = wasm.headers.get("Content-Type") === "application/wasm";
    return streams ? WebAssembly.compileStreaming(wasm) : WebAssembly.compile(await wasm.arrayBuffer());
  }
  return WebAssembly.compile(wasm); // bytes of another realm, or nothing that can be compiled
}

/** By its tag: who watches WebAssembly puts a class of their own in the place of WebAssembly.Memory. */
const isMemory = (value: WebAssembly.ExportValue): value is WebAssembly.Memory =>
  Object.prototype.toString.call(value) === "[object WebAssembly.Memory]";

/** The glue loses a failed instantiation, so it is caught here. */
function instantiate(module: WebAssembly.Module): Promise<Raw> {
  return new Promise((resolve, reject) => {
    let memory: WebAssembly.Memory | undefined;
    const border = new Border(() => memory as WebAssembly.Memory);
    const instantiateWasm: Parameters<typeof createModule>[0]["instantiateWasm"] = (imports, receive) => {
      WebAssembly.instantiate(module, imports)
        .then((instance) => {
          memory = Object.values(instance.exports).find(isMemory);
          receive(instance, module); // throws for a module that is none of ours
        })
        .catch(reject);
      return {};
    };
    createModule({ instantiateWasm, border }).then((exports) => {
      // Onto the glue's own object, where it puts WebAssembly's functions in the place of its stubs once they were called.
      resolve(Object.assign(exports, border.over(exports), { memory }) as unknown as Raw);
    }, reject);
  });
}
