import katex from "katex";
import subset from "subset-font";
import type { Plugin } from "vite";

/** A formula inside a text: $…$. */
const inline = /\$([^$]+)\$/g;

/** A letter in the colour of its role, which names its term in the glossary. */
const letter = (name: string, role: string, term = role) => `\\htmlClass{${role}}{\\sym{${term}}{${name}}}`;

const macros = {
  "\\sym": "\\htmlData{term=#1}{#2}",
  "\\Q": letter("Q", "query"),
  "\\K": letter("K", "key"),
  "\\V": letter("V", "value"),
  "\\W": letter("W", "weight", "weights"),
  "\\q": letter("q", "query"),
  "\\k": letter("k", "key"),
  "\\v": letter("v", "value"),
  "\\w": letter("w", "weight", "weights"),
};

/** KaTeX's faces and the classes that call for them; those that no formula calls for are not shipped. */
const faces: readonly (readonly [face: string, classes: RegExp])[] = [
  ["KaTeX_Main normal 400", /katex/],
  ["KaTeX_Math italic 400", /mathnormal/],
  ["KaTeX_Size1 normal 400", /delimsizing size1|small-op|delim-size1/],
  ["KaTeX_Size2 normal 400", /delimsizing size2|large-op/],
  ["KaTeX_Size3 normal 400", /delimsizing size3/],
  ["KaTeX_Size4 normal 400", /delimsizing size4|delim-size4/],
];

const ascii = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));

function texOf(sources: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const source of sources) {
    for (const [, tex] of source.matchAll(inline)) if (tex !== undefined) found.add(tex);
  }
  return found;
}

/** KaTeX lays out with style attributes, which a strict content security policy refuses; here they become classes. */
function extractStyles(html: string, classes: Map<string, string>): string {
  return html.replace(
    /<(\w+)((?:\s[\w-]+="[^"]*")*?)\sstyle="([^"]*)"/g,
    (_, tag: string, rest: string, style: string) => {
      const name = classes.get(style) ?? `kx${classes.size.toString(36)}`;
      classes.set(style, name);
      const withClass = rest.includes('class="')
        ? rest.replace('class="', `class="${name} `)
        : ` class="${name}"${rest}`;
      return `<${tag}${withClass}`;
    },
  );
}

function render(tex: string): string {
  const html = katex.renderToString(tex.replaceAll("d_k", "\\sym{head-dim}{d_k}"), {
    macros: { ...macros },
    throwOnError: true,
    // \htmlClass marks the terms that the page lights up, \htmlData those that explain themselves.
    trust: ({ command }) => command === "\\htmlClass" || command === "\\htmlData",
    strict: "ignore",
  });
  return html.replace(/<annotation.*?<\/annotation>/gs, "");
}

/** `virtual:math`: every formula of the texts, rendered while building, so that KaTeX itself is not shipped. */
export function math(sources: readonly string[]): Plugin {
  const classes = new Map<string, string>();
  const rendered = Object.fromEntries(
    [...texOf(sources)].map((tex) => [tex, extractStyles(render(tex), classes)]),
  );
  const html = Object.values(rendered).join("");
  const shipped = new Set(faces.filter(([, used]) => used.test(html)).map(([face]) => face));
  // !important stands in for the rank of a style attribute.
  const css = [...classes].map(([style, name]) => {
    const declarations = style.split(";").filter(Boolean);
    return `.katex .${name}{${declarations.map((line) => `${line}!important`).join(";")}}`;
  });

  return {
    name: "softlookup-math",
    enforce: "pre",
    resolveId: (id) => (id === "virtual:math" || id === "virtual:math.css" ? `\0${id}` : undefined),
    load(id) {
      if (id === "\0virtual:math") {
        return `import "katex/dist/katex.css"; import "virtual:math.css"; export default ${JSON.stringify(rendered)};`;
      }
      return id === "\0virtual:math.css" ? css.join("\n") : undefined;
    },
    /** The fonts shrink to the characters of the formulae, and those that components set in them. */
    async generateBundle(_, bundle) {
      const characters = html.replace(/<[^>]*>/g, "") + ascii + "Σσ′·×÷−+≈≤≥→∞√";
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !/KaTeX_.*\.woff2$/.test(file.fileName)) continue;
        file.source = await subset(Buffer.from(file.source), characters, { targetFormat: "woff2" });
      }
    },
    transform(code, id) {
      if (!id.endsWith("katex/dist/katex.css")) return undefined;
      return code.replace(/@font-face\s*{([^}]*)}/g, (rule: string, body: string) => {
        const value = (name: string) => new RegExp(`${name}:\\s*"?([^";]+)`).exec(body)?.[1] ?? "";
        const face = [
          value("font-family"),
          value("font-style"),
          value("font-weight").replace("normal", "400"),
        ].join(" ");
        return shipped.has(face) ? rule.replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\([^)]*\)/g, "") : "";
      });
    },
  };
}
