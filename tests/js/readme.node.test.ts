// Every JavaScript example of the READMEs runs, and prints what stands beside it.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runModule } from "./child.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Example {
  title: string;
  source: string;
  /** The lines behind "// →". */
  printed: string[];
}

function examplesOf(file: string): Example[] {
  const text = readFileSync(`${root}${file}`, "utf8");
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, source = ""], index) => ({
    title: `example ${index + 1}`,
    source,
    printed: [...source.matchAll(/^\s*\/\/ → (.*)$/gm)].map(([, line = ""]) => line),
  }));
}

const files = ["README.md", "README.zh.md"];

describe.each(files)("%s", (file) => {
  const examples = examplesOf(file);

  test("has examples", () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  test.each(examples)("$title prints what it says", { timeout: 30_000 }, async ({ source, printed }) => {
    expect(printed.length).toBeGreaterThan(0);
    // In the package's own folder its name leads to dist/.
    const { code, stdout, stderr } = await runModule(source, { cwd: root });
    expect({ code, stderr, printed: stdout.trimEnd().split("\n") }).toEqual({ code: 0, stderr: "", printed });
  });
});

test("both languages show the same examples", () => {
  const withoutComments = ({ source }: Example) =>
    source.replaceAll(/\/\/(?! →).*$/gm, "").replaceAll(/ +$/gm, "");
  const [english, chinese] = files.map((file) => examplesOf(file).map(withoutComments));
  expect(chinese).toEqual(english);
});
