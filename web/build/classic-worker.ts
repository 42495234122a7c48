import type { Plugin } from "vite";

/**
 * For the page as one file: opened from disk, a browser starts no module worker, and a classic one may not wait at
 * its top, as the package does for its binary; so the whole code of the worker waits inside of a function.
 */
export function classicWorker(): Plugin {
  return {
    name: "softlookup-classic-worker",
    enforce: "post",
    transform(code, id) {
      if (!id.endsWith("?worker&inline")) return undefined;
      const [, module] = /const jsContent = (".*");/.exec(code) ?? [];
      if (module === undefined) throw new Error("Vite bundles inline workers in another way");
      const body = (JSON.parse(module) as string).replaceAll("import.meta.url", "location.href");
      // What fails in it reaches the page as an error of the worker.
      const classic = `(async()=>{${body}})().catch((error)=>setTimeout(()=>{throw error}))`;
      return `export default function () {
        return new Worker(URL.createObjectURL(new Blob([${JSON.stringify(classic)}], { type: "text/javascript" })));
      }`;
    },
  };
}
