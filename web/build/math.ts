import katex from "katex";
import subset from "subset-font";
import type { Plugin } from "vite";

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

/** Part of the classes of a span that asks for one of KaTeX's other faces than Main. */
const faces: readonly (readonly [classes: RegExp, face: string])[] = [
  [/mathnormal/, "KaTeX_Math-Italic"],
  [/delimsizing size1|small-op|delim-size1/, "KaTeX_Size1-Regular"],
  [/delimsizing size2|large-op/, "KaTeX_Size2-Regular"],
  [/delimsizing size3/, "KaTeX_Size3-Regular"],
  [/delimsizing size4|delim-size4/, "KaTeX_Size4-Regular"],
];

const main = "KaTeX_Main-Regular";

/** What components set: the letters that head rows and columns, and the signs and words of arithmetic (max, exp, tanh, AND). */
const outsideFormulae = [
  ["KaTeX_Math-Italic", "bhkmoqsvwxGHUWΣσ"],
  [main, "aehmnptxADN ()=,:+−×÷·≈→√…"],
] as const;

/** What is set in each face: the others are not shipped, and no other character of these. */
function charactersOf(html: string): ReadonlyMap<string, string> {
  const characters = new Map<string, string>(outsideFormulae);
  for (const [, classes = "", text = ""] of html.matchAll(/class="([^"]*)"[^>]*>([^<]+)</g)) {
    const face = faces.find(([wanted]) => wanted.test(classes))?.[1] ?? main;
    characters.set(face, (characters.get(face) ?? "") + text);
  }
  return characters;
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

/** KaTeX's style sheet without the faces and the classes that no formula calls for. */
function trimmed(css: string, html: string, characters: ReadonlyMap<string, string>): string {
  const used = new Set(
    [...html.matchAll(/class="([^"]*)"/g)].flatMap(([, classes = ""]) => classes.split(" ")),
  );
  const applies = (selector: string) =>
    [...selector.matchAll(/\.([\w-]+)/g)].every(([, name = ""]) => used.has(name));
  return css
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/([^{}]+){([^{}]*)}/g, (rule, selectors: string, body: string) => {
      if (selectors.trim() !== "@font-face") {
        const kept = selectors.split(",").filter(applies);
        return kept.length > 0 ? `${kept.join()}{${body}}` : "";
      }
      const [, face = ""] = /fonts\/([\w-]+)\.woff2/.exec(body) ?? [];
      return characters.has(face) ? rule.replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\([^)]*\)/g, "") : "";
    });
}

/** Formulae under their keys. */
type Tex = Readonly<Record<string, string>>;

/**
 * `virtual:math`: formulae rendered while building, so that KaTeX itself is not shipped. The group `page` is
 * there at once; `virtual:math/<group>` adds another one to it.
 */
export function math({ page, ...others }: Readonly<Record<string, Tex>> & { page: Tex }): Plugin {
  const classes = new Map<string, string>();
  const rendered = (group: Tex) =>
    Object.fromEntries(Object.entries(group).map(([key, tex]) => [key, extractStyles(render(tex), classes)]));
  const first = rendered(page);
  const pageClasses = new Set(classes.values());
  const groups = Object.entries(others).map(([group, tex]) => {
    const own = Object.entries(rendered(tex)).filter(([key]) => !(key in first));
    return [`virtual:math/${group}`, Object.fromEntries(own)] as const;
  });
  /** The rules of the classes that these formulae wear. */
  const rulesOf = (formulae: Tex, isWanted: (name: string) => boolean) => {
    const html = Object.values(formulae).join("");
    return [...classes]
      .filter(([, name]) => isWanted(name) && new RegExp(`[" ]${name}[" ]`).test(html))
      .map(([style, name]) => {
        // !important stands in for the rank of a style attribute.
        const declarations = style.split(";").filter(Boolean);
        return `.katex .${name}{${declarations.map((line) => `${line}!important`).join(";")}}`;
      })
      .join("\n");
  };
  const modules = new Map([
    [
      "virtual:math",
      `import "katex/dist/katex.css"; import "virtual:math.css"; export default ${JSON.stringify(first)};`,
    ],
    ...groups.flatMap(([id, own]) => [
      [
        id,
        `import math from "virtual:math"; import "${id}.css"; Object.assign(math, ${JSON.stringify(own)});`,
      ] as const,
      [`${id}.css`, rulesOf(own, (name) => !pageClasses.has(name))] as const,
    ]),
    ["virtual:math.css", rulesOf(first, () => true)],
  ]);
  const html = [first, ...groups.map(([, own]) => own)].flatMap((table) => Object.values(table)).join("");
  const characters = charactersOf(html);

  return {
    name: "softlookup-math",
    enforce: "pre",
    resolveId: (id) => (modules.has(id) ? `\0${id}` : undefined),
    load: (id) => modules.get(id.slice(1)),
    async generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        const [face] = /KaTeX_\w+-\w+(?=-.*\.woff2$)/.exec(file.fileName) ?? [];
        if (file.type !== "asset" || face === undefined) continue;
        file.source = await subset(Buffer.from(file.source), characters.get(face) ?? "", {
          targetFormat: "woff2",
          noHinting: true,
        });
      }
    },
    transform: (code, id) =>
      id.endsWith("katex/dist/katex.css") ? trimmed(code, html, characters) : undefined,
  };
}
