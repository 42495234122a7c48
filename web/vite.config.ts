import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { type BuildEnvironmentOptions, defineConfig } from "vite";
import { classicWorker } from "./build/classic-worker.ts";
import { evaluated } from "./build/evaluated.ts";
import { html } from "./build/html.ts";
import { math } from "./build/math.ts";
import { offline } from "./build/offline.ts";
import { tex } from "./src/content/index.ts";
import { outline } from "./src/content/outline.ts";
import { recorded } from "./src/lessons/recorded.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const site: BuildEnvironmentOptions = {
  outDir: here("../site"),
  emptyOutDir: true,
  // Nothing becomes a data: URL, which the page's content security policy would refuse.
  assetsInlineLimit: 0,
  rolldownOptions: {
    output: {
      // What is always there comes in one piece, and so does what every lesson computes with.
      codeSplitting: {
        groups: [
          { name: "page", tags: ["$initial"] },
          { name: "core", test: /src\/compute\/(formula|layers|passes|programs\/formula|typed)\.ts$/ },
        ],
      },
    },
  },
};

/** The whole page as one file, dist/softlookup.html, which opens from disk. */
const oneFile: BuildEnvironmentOptions = {
  outDir: here("../dist"),
  emptyOutDir: false,
  copyPublicDir: false,
  assetsInlineLimit: Infinity,
  cssCodeSplit: false,
  rolldownOptions: { output: { codeSplitting: false } },
};

export default defineConfig(({ mode }) => {
  const single = mode === "single";
  return {
    root: here("."),
    // Relative, so that the built folder works under any path.
    base: "./",
    // The package waits for its binary while it is imported.
    worker: { format: "es" },
    plugins: [
      math(tex),
      evaluated(here("src/content/outline.ts"), { outline }),
      evaluated(here("src/lessons/recorded.ts"), { recorded }),
      svelte(),
      html({ single }),
      ...(single
        ? [classicWorker()]
        : [offline({ publicFolder: here("public"), template: here("build/sw.js") })]),
    ],
    resolve: {
      alias: [
        { find: "softlookup", replacement: here("../dist/index.js") },
        ...(single
          ? [
              {
                find: /^.*\/jobs\/start\.ts$|^\.\/start\.ts$/,
                replacement: here("src/jobs/start.single.ts"),
              },
              { find: "#binary", replacement: here("src/binary.single.ts") },
            ]
          : []),
      ],
    },
    build: {
      target: "es2022",
      // The oldest with light-dark(), which the two themes are written in.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      modulePreload: { polyfill: false },
      ...(single ? oneFile : site),
    },
  };
});
