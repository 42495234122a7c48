import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findNumPy } from "../../scripts/requirements.mjs";
import { cacheProgram } from "../../web/src/compute/programs/cache.ts";
import { formulaProgram } from "../../web/src/compute/programs/formula.ts";
import { leakProgram } from "../../web/src/compute/programs/leak.ts";
import { lookupProgram } from "../../web/src/compute/programs/lookup.ts";
import { masksProgram } from "../../web/src/compute/programs/masks.ts";
import type { Program } from "../../web/src/compute/programs/program.ts";
import type { LessonId, Place } from "../../web/src/content/lesson.ts";
import { codeOf } from "../../web/src/export/code.ts";
import type { Inputs } from "../../web/src/state/inputs.ts";
import { readLink } from "../../web/src/state/url.ts";
import { addressOf, expect, expectClose, numbersOf, open, places, test } from "./fixtures.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const numPy = findNumPy();

const programs: Readonly<Partial<Record<LessonId, (step: string, inputs: Inputs) => Program | undefined>>> = {
  lookup: lookupProgram,
  formula: formulaProgram,
  masks: masksProgram,
  cache: cacheProgram,
  leak: leakProgram,
};
const programFor = ({ lesson, step }: Place, inputs: Inputs) => programs[lesson]?.(step, inputs);

/** What a program prints: a name, and under it rows of numbers. A name may come twice. */
function printed(output: string): Map<string, number[][]> {
  const found = new Map<string, number[][]>();
  let numbers: number[] = [];
  for (const line of output.trim().split("\n")) {
    if (/^[a-z]+$/i.test(line)) {
      numbers = [];
      found.set(line, [...(found.get(line) ?? []), numbers]);
    } else {
      numbers.push(...line.split(" ").map((text) => Number(text.replace("inf", "Infinity"))));
    }
  }
  return found;
}

function run(command: string, file: string): Map<string, number[][]> {
  const { status, stdout, stderr } = spawnSync(command, [file], {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" },
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return printed(stdout);
}

/** The matrices of the page that a program has to print, under the program's name for them. */
const names: Readonly<Record<string, string>> = {
  rowMax: "rowMax",
  exp: "exp",
  rowSum: "rowSum",
  weights: "weights",
  wrong: "weights",
  softmaxAll: "softmax",
  output: "output",
  answer: "output",
  weightsNow: "weights",
  outputNow: "output",
  outputBefore: "output",
  outputAfter: "output",
  weightsBefore: "weights",
  weightsAfter: "weights",
};

/** What a reader may have changed: no row of the mask empty, one row empty, other tokens. */
const edits: Readonly<Record<string, string>> = {
  formula: "&q=-2.5_1_0_1_1_0_0.5_3e-5",
  cache: "&generated=7&position=4&seed=12",
  masks: "&mask=0000110010101111&scores=3_0.5_-1_1000",
  leak: "&length=5&seed=11&cut=1",
};

let folder: string;
test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "softlookup-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/softlookup"), "dir");
});
test.afterAll(() => {
  rmSync(folder, { recursive: true });
});

test.describe("a copied program prints the numbers of the page", () => {
  for (const lesson of ["lookup", "formula", "masks", "cache", "leak"] as const) {
    test(lesson, async ({ page, site }) => {
      test.slow();
      let compared = 0;
      for (const place of places.filter((other) => other.lesson === lesson)) {
        const search = addressOf(place, "en", edits[lesson]);
        const program = programFor(place, readLink(search).link.inputs);
        const copyAs = page.getByRole("group", { name: "Copy as" });
        await open(page, site, search);
        await expect(copyAs).toHaveCount(program === undefined ? 0 : 1);
        if (program === undefined) continue;

        writeFileSync(join(folder, "program.mjs"), codeOf(program, "JavaScript"));
        writeFileSync(join(folder, "program.py"), codeOf(program, "NumPy"));
        const fromNode = run(process.execPath, join(folder, "program.mjs"));
        const fromNumPy = numPy === undefined ? undefined : run(numPy, join(folder, "program.py"));
        for (const [grid, name] of Object.entries(names)) {
          const shown = await numbersOf(page, grid);
          if (shown.length === 0) continue;
          // A step may run twice: right and wrong, before and after.
          const same = fromNode.get(name)?.findIndex((numbers) => String(numbers) === String(shown)) ?? -1;
          expect(same, `${place.step}: ${grid} in JavaScript`).toBeGreaterThanOrEqual(0);
          if (fromNumPy) expectClose(fromNumPy.get(name)?.[same] ?? [], shown);
          compared += 1;
        }
      }
      expect(compared).toBeGreaterThan(1);
    });
  }

  test("and PyTorch’s differs from NumPy’s in the library’s words alone", () => {
    for (const place of places) {
      const program = programFor(place, readLink(addressOf(place)).link.inputs);
      if (program === undefined) continue;
      const [numpy, torch] = [codeOf(program, "NumPy"), codeOf(program, "PyTorch")];
      expect(torch).not.toMatch(/\bnp\b|axis|keepdims/);
      expect(torch.split("\n").length).toBe(numpy.split("\n").length);
    }
  });
});

test("Copy puts the program on the clipboard; refused, it is shown", async ({ page, site, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const place = { lesson: "formula", step: "scores" } as const;
  await open(page, site, addressOf(place));
  const program = programFor(place, readLink("").link.inputs);
  if (program === undefined) throw new Error("no program");
  await page.getByRole("button", { name: "NumPy", exact: true }).click();
  await expect(page.getByText("NumPy program copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codeOf(program, "NumPy"));
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await page.getByRole("button", { name: "PyTorch", exact: true }).click();
  await expect(page.getByRole("textbox", { name: /here it is/ })).toHaveValue(codeOf(program, "PyTorch"));
});

test.describe("saved", () => {
  const search = addressOf({ lesson: "masks", step: "causal" }, "en", "&q=1e-7_1_0_1_1_0_0.5_0.5");

  test("as data: every number of the step, exact", async ({ page, site }) => {
    await open(page, site, search);
    const masked = await numbersOf(page, "masked");
    const file = async (kind: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: kind, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`softlookup-masks-causal.${kind.toLowerCase()}`);
      return readFileSync(await download.path());
    };
    const { link, matrices } = JSON.parse((await file("JSON")).toString()) as {
      link: string;
      matrices: { id: string; label: string; cols: string[]; data: (number | string)[][] }[];
    };
    expect(readLink(new URL(link).search).link.inputs.q[0]).toBe(1e-7);
    expect(matrices.map(({ id }) => id)).toEqual(["scaled", "keep", "masked"]);
    expect(matrices[2]?.data.flat().map(Number)).toEqual(masked);
    expect(matrices[2]?.cols).toEqual(["k0", "k1", "k2", "k3"]);
    const csv = (await file("CSV")).toString();
    expect(csv.split("\r\n\r\n")).toHaveLength(3);
    expect(csv).toContain(`q0,${String(masked[0])},-Infinity,-Infinity,-Infinity`);

    const svg = (await file("SVG")).toString();
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(svg.match(/<rect/g)?.length).toBeGreaterThan(48);
    expect(svg).toContain(">Masked scores<");
    expect(svg).not.toMatch(/var\(|NaN|Infinity"/);
    const png = await file("PNG");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    // Twice as wide as the drawing (the width stands at byte 16).
    expect(png.readUInt32BE(16)).toBe(2 * Math.floor(Number(/width="([\d.]+)"/.exec(svg)?.[1])));
    mkdirSync(join(root, "test-results"), { recursive: true });
    writeFileSync(join(root, "test-results/saved.png"), png);
  });
});
