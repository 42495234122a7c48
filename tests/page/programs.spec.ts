import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { relaxedFlags } from "../../scripts/node-flags.mjs";
import { findNumPy, findPyTorch } from "../../scripts/requirements.mjs";
import { cacheProgram } from "../../web/src/compute/programs/cache.ts";
import { costProgram } from "../../web/src/compute/programs/cost.ts";
import { formulaProgram } from "../../web/src/compute/programs/formula.ts";
import { headsProgram } from "../../web/src/compute/programs/heads.ts";
import { leakProgram } from "../../web/src/compute/programs/leak.ts";
import { lookupProgram } from "../../web/src/compute/programs/lookup.ts";
import { masksProgram } from "../../web/src/compute/programs/masks.ts";
import { minimindProgram } from "../../web/src/compute/programs/minimind.ts";
import type { Program } from "../../web/src/compute/programs/program.ts";
import { scaleProgram } from "../../web/src/compute/programs/scale.ts";
import { faults } from "../../web/src/content/faults.ts";
import type { LessonId, Place } from "../../web/src/content/lesson.ts";
import { type CodeLanguage, codeOf } from "../../web/src/export/code.ts";
import type { Inputs } from "../../web/src/state/inputs.ts";
import { readLink } from "../../web/src/state/url.ts";
import { addressOf, expect, numbersOf, open, places, settled, test, turnTo } from "./fixtures.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const numPy = installed("NumPy", findNumPy());
const pyTorch = installed("PyTorch", findPyTorch());

function installed(name: string, python: string | undefined): string {
  if (python === undefined) throw new Error(`no Python with ${name}, which npm test installs`);
  return python;
}

const programs: Readonly<Record<LessonId, (step: string, inputs: Inputs) => Program | undefined>> = {
  lookup: lookupProgram,
  formula: formulaProgram,
  scale: scaleProgram,
  masks: masksProgram,
  cache: cacheProgram,
  heads: headsProgram,
  minimind: minimindProgram,
  cost: costProgram,
  leak: leakProgram,
};
const programFor = ({ lesson, step }: Place, inputs: Inputs) => programs[lesson](step, inputs);

/** In either language's spelling, or the page's. */
function toNumber(text: string): number {
  if (text === "True" || text === "False") return Number(text === "True");
  return Number(text.replaceAll("−", "-").replace(/^(-?)(inf|∞)$/, "$1Infinity"));
}

/** What a program prints: a name, and under it rows of numbers. A name may come twice. */
function printed(output: string): Map<string, number[][]> {
  const found = new Map<string, number[][]>();
  let numbers: number[] = [];
  for (const line of output.trim().split("\n")) {
    if (/^[a-z_]+$/i.test(line)) {
      numbers = [];
      found.set(line, [...(found.get(line) ?? []), numbers]);
    } else {
      numbers.push(...line.split(" ").map(toNumber));
    }
  }
  return found;
}

const between = "----";

const runners = {
  JavaScript: [
    ...relaxedFlags(), // as the page computes
    "--input-type=module",
    "--eval",
    `for (const file of process.argv.slice(1)) { await import(file); console.log("${between}"); }`,
  ],
  Python: [
    "-c",
    `import runpy, sys\nfor file in sys.argv[1:]:\n    runpy.run_path(file)\n    print("${between}")`,
  ],
};

/** Runs programs in one process: what each prints. */
function run(command: string, language: keyof typeof runners, texts: readonly string[]) {
  const place = mkdtempSync(join(folder, "run-"));
  const files = texts.map((text, index) => {
    const file = join(place, `${String(index)}.${language === "Python" ? "py" : "mjs"}`);
    writeFileSync(file, text);
    return file;
  });
  const { status, stdout, stderr } = spawnSync(command, [...runners[language], ...files], {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" },
    maxBuffer: 2 ** 26,
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout.split(`${between}\n`).slice(0, texts.length).map(printed);
}

const inNode = (texts: readonly string[]) => run(process.execPath, "JavaScript", texts);
const inNumPy = (texts: readonly string[]) => run(numPy, "Python", texts);
const inPyTorch = (texts: readonly string[]) => run(pyTorch, "Python", texts);

/** Numbers of one size or of many agree to within a share of what is being compared. */
function expectNear(actual: readonly number[], wanted: readonly number[], what: string): void {
  const far = wanted.filter((other, index) => {
    const value = actual[index] ?? NaN;
    return Number.isFinite(other)
      ? !(Math.abs(value - other) <= 2e-6 * Math.max(1, Math.abs(other)))
      : !Object.is(value, other);
  });
  expect(far, what).toEqual([]);
  expect(actual.length, what).toBe(wanted.length);
}

type Part = (numbers: readonly number[], inputs: Inputs) => readonly number[];

const blockOf = (numbers: readonly number[], size: number, nth = 0) =>
  numbers.slice(nth * size, (nth + 1) * size);

const firstSequence =
  (widthOf: (inputs: Inputs) => number): Part =>
  (numbers, inputs) =>
    blockOf(numbers, inputs.mmLength * widthOf(inputs));

/** The shown head of the first sequence of [B, n, heads, E]. */
const shownHead =
  (kind: "mmHeads" | "mmKvHeads"): Part =>
  (numbers, inputs) => {
    const { mmLength, mmHidden, mmHeads, mmHead } = inputs;
    const width = mmHidden / mmHeads;
    const head = Math.floor(mmHead / (mmHeads / inputs[kind]));
    return Array.from({ length: mmLength }, (_, token) =>
      blockOf(numbers, width, token * inputs[kind] + head),
    ).flat();
  };

/** The shown head of the first sequence of [B, heads, n, …]. */
const shownBlock =
  (widthOf: (inputs: Inputs) => number): Part =>
  (numbers, inputs) =>
    blockOf(numbers, inputs.mmLength * widthOf(inputs), inputs.mmHead);

const square = shownBlock(({ mmLength }) => mmLength);
const hidden = firstSequence(({ mmHidden }) => mmHidden);
const keysWide = firstSequence(({ mmHidden, mmHeads, mmKvHeads }) => (mmHidden / mmHeads) * mmKvHeads);
const newTokens: Part = (numbers, { mmLength, mmPast, mmHidden }) =>
  numbers.length > 2 * (mmLength - mmPast) * mmHidden
    ? numbers.slice(mmPast * mmHidden, mmLength * mmHidden)
    : blockOf(numbers, (mmLength - mmPast) * mmHidden);

/** MiniMind's grids show a part of what the program prints under the same name. */
const minimindParts: Readonly<Record<string, readonly [name: string, part: Part]>> = {
  q_proj: ["q_proj", hidden],
  k_proj: ["k_proj", keysWide],
  v_proj: ["v_proj", keysWide],
  xq: ["xq", shownHead("mmHeads")],
  q_norm: ["q_norm", shownHead("mmHeads")],
  q_rope: ["q_rope", shownHead("mmHeads")],
  xk: ["xk", shownHead("mmKvHeads")],
  xv: ["xv", shownHead("mmKvHeads")],
  k_norm: ["k_norm", shownHead("mmKvHeads")],
  k_rope: ["k_rope", shownHead("mmKvHeads")],
  past_k: ["past_k", shownHead("mmKvHeads")],
  past_v: ["past_v", shownHead("mmKvHeads")],
  values: ["xv_repeat", shownHead("mmHeads")],
  qk: ["qk", square],
  scores: ["scores", square],
  masked: ["masked", square],
  exp: ["exp", square],
  rowSum: ["rowSum", shownBlock(() => 1)],
  weights: ["weights", square],
  head_out: ["head_out", shownBlock(({ mmHidden, mmHeads }) => mmHidden / mmHeads)],
  merged: ["merged", hidden],
  output: ["output", hidden],
  plain: ["output", hidden],
  cached: ["output", newTokens],
  once: ["output", newTokens],
};

const whole: Part = (numbers) => numbers;
const headPart =
  (nth: number): Part =>
  (numbers, { headsCount }) =>
    blockOf(numbers, numbers.length / headsCount, nth);

/** Where one head stands alone. */
const headParts = Object.fromEntries(
  Array.from({ length: 8 }, (_, nth) => [
    [`head${String(nth)}`, ["heads", headPart(nth)]],
    [`weights${String(nth)}`, ["weights", headPart(nth)]],
  ]).flat(),
) as typeof minimindParts;

/** The tables of counts, under the program's names for them. */
const listings: Readonly<Partial<Record<LessonId, Readonly<Record<string, string>>>>> = {
  heads: { parameters: "parameters" },
  cost: { time: "operations", matrix: "scoreTable", parameters: "matrices", calculator: "calculator" },
};

/** The plots of a step, under the program's names for them. */
const plots: Readonly<Record<string, string>> = {
  operations: "nextToken",
  variance: "variance",
  entropy: "entropy",
  largest: "largest",
};

/** The passes that a row of the table of shapes is about. */
const shaped = ["x", "query", "queryHeads", "scores", "weights", "heads", "merged", "output"];

/** The first cut that leaks. */
const firstLeak: Part = (leaks) => [leaks.indexOf(1)];

interface Shown {
  name: string;
  numbers: readonly number[];
  part?: Part;
}

/** Every matrix of the step, asked for at once. */
async function gridsOf(page: Page): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = await page.locator("[data-grid]").evaluateAll((grids) =>
    grids.map((grid) => ({
      id: grid.getAttribute("data-grid") ?? "",
      texts: [...grid.querySelectorAll<HTMLElement>("td[data-value]")].map(
        ({ dataset }) => dataset["value"] ?? "",
      ),
    })),
  );
  return new Map(found.map(({ id, texts }) => [id, texts.map(toNumber)]));
}

/** The numbers of a step that stand in no matrix. */
async function besidesMatrices(page: Page, { lesson, step }: Place): Promise<readonly Shown[]> {
  const shown: Shown[] = [];
  const valuesOf = (selector: string, attribute = "data-value") =>
    page
      .locator(selector)
      .evaluateAll((cells, name) => cells.map((one) => Number(one.getAttribute(name))), attribute);
  const counted = listings[lesson]?.[step];
  if (counted !== undefined) {
    shown.push({ name: counted, numbers: await valuesOf(`[data-listing="${step}"] [data-value]`) });
  }
  if (step === "shapes") {
    const texts = await page.locator("[data-listing=shapes] code").allInnerTexts();
    texts
      .filter((text) => text.startsWith("("))
      .forEach((text, nth) => {
        shown.push({ name: shaped[nth] ?? "", numbers: text.slice(1, -1).split(", ").map(Number) });
      });
  }
  if (lesson === "cache" && step === "memory") {
    shown.push({ name: "cacheMemory", numbers: await valuesOf("[data-bytes]", "data-bytes") });
  }
  if (lesson === "scale" || (lesson === "cache" && step === "count")) {
    for (const [plot, name] of Object.entries(plots)) {
      const numbers = await valuesOf(`[data-plot="${plot}"] td`);
      if (numbers.length > 0) shown.push({ name, numbers });
    }
  }
  for (const report of await page.locator(".report").all()) {
    const firstCut = await report.locator("[data-first-cut]").getAttribute("data-first-cut");
    shown.push(
      { name: "influence", numbers: await numbersOf(report, "influence") },
      { name: "leaks", numbers: [firstCut === "none" ? -1 : Number(firstCut)], part: firstLeak },
    );
  }
  return shown;
}

/** The matrices of the page that a program has to print, under the program's name for them. */
const names: Readonly<Record<string, string>> = {
  scores: "scores",
  tempered: "scaled",
  addQuery: "query",
  addKey: "key",
  addScores: "scores",
  addWeights: "weights",
  dotWeights: "weights",
  contexts: "output",
  draws: "draws",
  deviation: "deviation",
  scoresScaled: "scaled",
  scoresRaw: "scores",
  weightsScaled: "weights",
  weightsRaw: "weights",
  largestScaled: "largest",
  largestRaw: "largest",
  entropyScaled: "entropy",
  entropyRaw: "entropy",
  q: "query",
  k: "key",
  v: "value",
  skew: "skew",
  query: "query",
  merged: "merged",
  mergedSilent: "merged",
  outputSilent: "output",
  large: "large",
  small: "small",
  difference: "difference",
  window: "window",
  seen: "seen",
  total: "total",
  soft: "soft",
  linear: "linear",
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
  triangle: "triangle",
  step: "mask",
  chunkMask: "mask",
  misaligned: "misaligned",
  whole: "whole",
  through: "through",
  tokens: "x",
  future: "replaced",
};

/** Names that mean something else, or what is given, in these lessons. */
const otherwise: Readonly<Partial<Record<LessonId, readonly string[]>>> = {
  lookup: ["q", "k", "v", "query"],
  formula: ["q", "k", "v"],
  masks: ["q", "k", "v", "scores"],
  cache: ["q", "k", "v"],
};

/** Steps whose matrices hold what their program starts from, or are in none of its passes. */
const showsGivenOnly: Readonly<Partial<Record<LessonId, readonly string[]>>> = {
  formula: ["inputs"],
  masks: ["padding", "padding-masked", "causal", "both"],
  minimind: ["x", "pairings", "distance", "repeat", "variables", "labs"],
};

function partsOf(lesson: LessonId, step: string): typeof minimindParts {
  if (lesson === "minimind") return minimindParts;
  const plain = Object.entries(names)
    .filter(([grid]) => !otherwise[lesson]?.includes(grid))
    .map(([grid, name]) => [grid, [name, whole]] as const);
  // Before attention, a head holds queries.
  const heads = Object.entries(headParts).map(([grid, [name, part]]) =>
    step === "split" && name === "heads"
      ? ([grid, ["queryHeads", part]] as const)
      : ([grid, [name, part]] as const),
  );
  const masked = step === "one-token" ? [["scores", ["masked", whole]] as const] : [];
  const view = step === "view" ? [["wrong", ["wrong", whole]] as const] : [];
  return Object.fromEntries([...plain, ...(lesson === "heads" ? heads : []), ...masked, ...view]);
}

/** What a reader may have changed: no row of the mask empty, one row empty, other tokens, sizes and seeds. */
const edits: Readonly<Partial<Record<LessonId, string>>> = {
  lookup: "&temperature=0.5",
  formula: "&q=-2.5_1_0_1_1_0_0.5_3e-5",
  scale: "&width=32&keyCount=4&seed=8",
  cache: "&generated=7&position=4&chunk=3&seed=12&modelDim=64&memoryKvHeads=32",
  masks: "&mask=0000110010101111&scores=3_0.5_-1_1000",
  heads:
    "&headsLength=3&headsDim=8&headsCount=4&headsSilent=2&headsTokens=1.2.0.75&shapeBatch=1&shapeLength=5&shapeDim=16&shapeHeads=4",
  minimind:
    "&mmLength=4&mmHidden=24&mmHeads=6&mmKvHeads=3&mmHead=4&mmPast=2&mmKeep=11011111&mmTokens=1.2.0.75",
  cost: "&costLength=4096&costDim=768&costHeads=12&costTokens=5&costWindow=2&costSeed=9",
  leak: "&length=5&seed=11&cut=1&tokens=1.2.0.75&future=3.0.2&fault=finite-sentinel",
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

const lessonIds = Object.keys(programs) as LessonId[];

test.describe("a copied program prints the numbers of the page", () => {
  for (const lesson of lessonIds) {
    test(lesson, async ({ page, site }) => {
      test.slow();
      const own = places.filter((place) => place.lesson === lesson);
      const states = [undefined, edits[lesson]].flatMap((edit) =>
        own.map((place) => {
          const search = addressOf(place, "en", edit);
          const { inputs } = readLink(search).link;
          return { place, edit, search, inputs, program: programFor(place, inputs) };
        }),
      );
      const distinct = (language: CodeLanguage) => [
        ...new Set(states.flatMap(({ program }) => (program ? [codeOf(program, language)] : []))),
      ];
      const outputsOf = (language: CodeLanguage, runAll: typeof inNode) => {
        const texts = distinct(language);
        const outputs = runAll(texts);
        return new Map(texts.map((text, index) => [text, outputs[index]]));
      };
      const printedBy = {
        JavaScript: outputsOf("JavaScript", inNode),
        NumPy: outputsOf("NumPy", inNumPy),
      };
      const copyAs = page.getByRole("group", { name: "Copy as" });
      for (const [nth, { place, edit, search, inputs, program }] of states.entries()) {
        if (nth === 0) await open(page, site, search);
        else await turnTo(page, place, "en", edit);
        await expect(copyAs).toHaveCount(program === undefined ? 0 : 1);
        if (program === undefined) continue;
        await settled(page);

        const fromNode = printedBy.JavaScript.get(codeOf(program, "JavaScript"));
        const fromNumPy = printedBy.NumPy.get(codeOf(program, "NumPy"));
        let compared = 0;
        const compare = ({ name, numbers, part = whole }: Shown, what: string) => {
          // A step may run twice: right and wrong, before and after.
          const found = fromNode?.get(name)?.map((all) => String(part(all, inputs))) ?? [];
          const same = found.indexOf(String(numbers));
          expect(same, `${place.step}: ${what} in JavaScript`).toBeGreaterThanOrEqual(0);
          expectNear(part(fromNumPy?.get(name)?.[same] ?? [], inputs), numbers, what);
          compared += 1;
        };
        const grids = await gridsOf(page);
        for (const [grid, [name, part]] of Object.entries(partsOf(lesson, place.step))) {
          const numbers = grids.get(grid);
          if (numbers && fromNode?.has(name)) compare({ name, numbers, part }, grid);
        }
        for (const shown of await besidesMatrices(page, place)) compare(shown, shown.name);
        expect(compared > 0, place.step).toBe(!showsGivenOnly[lesson]?.includes(place.step));
      }
    });
  }
});

test.describe("in every language a program", () => {
  /** Each program once, and the leak check of every fault. */
  const all = new Map(
    [
      ...places.map((place) => ({ place, more: edits[place.lesson] })),
      ...faults.map((fault) => ({
        place: { lesson: "leak", step: "others" } as const,
        more: `&length=8&fault=${fault}`,
      })),
    ].flatMap(({ place, more }) => {
      const program = programFor(place, readLink(addressOf(place, "en", more)).link.inputs);
      return program ? [[codeOf(program, "NumPy"), program] as const] : [];
    }),
  );

  test("of PyTorch differs from NumPy’s in the library’s words alone", () => {
    for (const [numpy, program] of all) {
      const torch = codeOf(program, "PyTorch");
      expect(torch).not.toMatch(/\bnp\b|axis|keepdims/);
      expect(torch.split("\n").length).toBe(numpy.split("\n").length);
    }
  });

  test("is Python where it says so", () => {
    const texts = [...all.values()].flatMap((program) => [
      codeOf(program, "NumPy"),
      codeOf(program, "PyTorch"),
    ]);
    const files = texts.map((text, index) => {
      const file = join(folder, `syntax${String(index)}.py`);
      writeFileSync(file, text);
      return file;
    });
    const { status, stderr } = spawnSync(numPy, ["-m", "py_compile", ...files], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  const codes = (language: CodeLanguage) => [...all.values()].map((program) => codeOf(program, language));

  /** Every pass of every program, in Python as in JavaScript. */
  function expectSamePasses(fromPython: ReturnType<typeof run>): void {
    inNode(codes("JavaScript")).forEach((passes, nth) => {
      expect([...(fromPython[nth]?.keys() ?? [])].sort()).toEqual([...passes.keys()].sort());
      for (const [name, runs] of passes) {
        runs.forEach((numbers, turn) => {
          expectNear(fromPython[nth]?.get(name)?.[turn] ?? [], numbers, name);
        });
      }
    });
  }

  test("prints the same passes", () => {
    test.slow();
    expectSamePasses(inNumPy(codes("NumPy")));
  });

  test("prints the same passes in PyTorch", () => {
    test.slow();
    expectSamePasses(inPyTorch(codes("PyTorch")));
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
