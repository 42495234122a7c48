import type { Plugin } from "vite";

/** A module that is computed while building: the page gets what it exports, and nothing that it was made from. */
export function evaluated(path: string, exports: Readonly<Record<string, unknown>>): Plugin {
  return {
    name: "softlookup-evaluated",
    enforce: "pre",
    load: (id) =>
      id === path
        ? Object.entries(exports)
            .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
            .join("\n")
        : undefined,
  };
}
