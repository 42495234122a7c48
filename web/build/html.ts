import { createHash } from "node:crypto";
import type { Plugin, Rolldown } from "vite";
import { relaxedSimd } from "wasm-feature-detect";
import { early } from "./early.ts";

const text = (source: string | Uint8Array) =>
  typeof source === "string" ? source : new TextDecoder().decode(source);

/** What a policy calls an inline script or style. */
const hashOf = (content: string) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;

const contentsOf = (html: string, tag: "script" | "style") =>
  [...html.matchAll(new RegExp(`<${tag}(?![^>]*\\ssrc=)[^>]*>(.*?)</${tag}>`, "gs"))].map(
    ([, inner = ""]) => inner,
  );

/** The page's content security policy with its own inline scripts and styles allowed, each by its hash. */
function allowInline(html: string): string {
  const allow = (policy: string, directive: string, contents: readonly string[]) =>
    policy.replace(new RegExp(`${directive} [^;]*`), (before) => [before, ...contents.map(hashOf)].join(" "));
  return html.replace(
    /(http-equiv="Content-Security-Policy"\s+content=")([^"]*)/,
    (_, start: string, policy: string) => {
      const withScripts = allow(policy, "script-src", contentsOf(html, "script"));
      return start + allow(withScripts, "style-src", contentsOf(html, "style"));
    },
  );
}

/** Policy for the page as one file, where nothing comes from a server. */
const policyOfOneFile =
  "default-src 'none'; script-src 'wasm-unsafe-eval'; style-src 'self'; font-src data:; img-src data:; connect-src data:; worker-src blob:; base-uri 'none'; form-action 'none'";

const fonts = /\/KaTeX_(Main-Regular|Math-Italic)-[^/]+\.woff2$/;

/** What the first lesson begins with. */
const first = [/\/content\/lookup\.ts$/, /virtual:math\/lookup$/, /\/lessons\/opening\.ts$/];

/** What the page is going to want, asked for at once instead of one after the other. */
function preloads(bundle: Rolldown.OutputBundle): string {
  const names = Object.keys(bundle);
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const named = (pattern: RegExp) => `./${one(names.filter((name) => pattern.test(name)))}`;
  const chunkOf = (module: RegExp) =>
    `./${one(chunks.filter(({ moduleIds }) => moduleIds.some((id) => module.test(id)))).fileName}`;
  const links = names
    .filter((name) => fonts.test(name))
    .map((name) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="./${name}">`);
  const script = `{
      const link = (how) => document.head.append(Object.assign(document.createElement("link"), how));
      const module = (href) => link({ rel: "modulepreload", href });
      if (document.documentElement.dataset.early) ${JSON.stringify(first.map(chunkOf))}.forEach(module);
      else {
        module(${JSON.stringify(named(/\/core-[^/]+\.js$/))});
        // Of the two binaries the one that the package will choose, by the same test.
        (${String(relaxedSimd)})().then((relaxed) => link({
          rel: "preload", as: "fetch", crossOrigin: "",
          href: relaxed ? ${JSON.stringify(named(/softlookup\.relaxed.*\.wasm$/))} : ${JSON.stringify(named(/softlookup-.*\.wasm$/))},
        }));
      }
    }`;
  return [...links, `<script>${script}</script>`].join("\n    ");
}

function one<Item>([item, ...others]: readonly Item[]): Item {
  if (item === undefined || others.length > 0) throw new Error("what to preload was built under other names");
  return item;
}

/** Puts the inline parts of index.html into its policy; `single` first takes everything else inline too. */
export function html({ single }: { single: boolean }): Plugin {
  return {
    name: "softlookup-html",
    enforce: "post",
    generateBundle: {
      order: "post", // after Vite’s own last changes
      handler(_, bundle) {
        const page = bundle["index.html"];
        if (page?.type !== "asset") throw new Error("no index.html was built");
        let built = text(page.source).replace("<!-- early -->", () => early());
        if (single) {
          for (const [name, file] of Object.entries(bundle)) {
            if (file === page) continue;
            const [tag, open, close, content] =
              file.type === "chunk"
                ? [
                    `<script[^>]*src="./${name}"[^>]*></script>`,
                    '<script type="module">',
                    "</script>",
                    file.code,
                  ]
                : [
                    `<link rel="stylesheet"[^>]*href="./${name}"[^>]*>`,
                    "<style>",
                    "</style>",
                    text(file.source),
                  ];
            const inline = `${open}${content.replaceAll("</script", "<\\/script")}${close}`;
            built = built.replace(new RegExp(tag), () => inline);
            Reflect.deleteProperty(bundle, name);
          }
          // The module runs where it stands, so it comes last.
          const module = /<script type="module">.*?<\/script>/s.exec(built)?.[0] ?? "";
          built = built.replace(module, "").replace("</body>", () => `${module}</body>`);
          built = built
            .replace(/<link rel="(manifest|icon|apple-touch-icon)"[^>]*>\s*/g, "")
            .replace(/(http-equiv="Content-Security-Policy"\s+content=")[^"]*/, `$1${policyOfOneFile}`);
          page.fileName = "softlookup.html";
        } else built = built.replace("</title>", `</title>\n    ${preloads(bundle)}`);
        page.source = allowInline(built);
      },
    },
  };
}
