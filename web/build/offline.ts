import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** `sw.js`: web/build/sw.js with the list of everything that was built, and a name for it that changes with it. */
export function offline({ publicFolder, template }: { publicFolder: string; template: string }): Plugin {
  return {
    name: "softlookup-offline",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const hash = createHash("sha256");
        for (const file of Object.values(bundle))
          hash.update(file.type === "chunk" ? file.code : file.source);
        for (const name of readdirSync(publicFolder)) hash.update(readFileSync(`${publicFolder}/${name}`));
        const files = [...Object.keys(bundle), ...readdirSync(publicFolder)].filter(
          (name) => name !== "index.html",
        );
        this.emitFile({
          type: "asset",
          fileName: "sw.js",
          source: readFileSync(template, "utf8")
            .replace('"VERSION"', JSON.stringify(hash.digest("hex").slice(0, 16)))
            .replace('["FILES"]', JSON.stringify(["./", ...files])),
        });
      },
    },
  };
}
