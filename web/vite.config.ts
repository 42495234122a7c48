import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { math } from "./build/math.ts";
import { formulae } from "./src/content/formulae.ts";
import { everyText } from "./src/content/index.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  // Relative, so that the built folder works under any path.
  base: "./",
  // The package waits for its binary while it is imported.
  worker: { format: "es" },
  plugins: [math([...everyText(), ...Object.values(formulae)]), svelte()],
  resolve: { alias: { softlookup: here("../dist/index.js") } },
  build: {
    outDir: here("../site"),
    emptyOutDir: true,
    target: "es2022",
    // The oldest with light-dark(), which the two themes are written in.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Nothing becomes a data: URL, which the page's content security policy would refuse.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
});
