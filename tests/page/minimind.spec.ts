import type { Page } from "@playwright/test";
import { GroupedQueryAttention, randomNormal } from "softlookup";
import { defaults as labDefaults, traceAttentionShapes } from "../../examples/trace_attention_shapes.mjs";
import { addressOf, cell, expect, expectClose, numbersOf, open, test } from "./fixtures.ts";

const at = (step: string, more = "") => addressOf({ lesson: "minimind", step }, "en", more);

/** The page's default layer, its parameters made once more: draws over the root of the width, norms around 1. */
const [batch, length, hidden, heads, kvHeads, headDim] = [2, 5, 16, 4, 2, 4];
const drawn = (shape: readonly number[], seed: number, center: number, spread: number) => ({
  data: [...randomNormal(shape, seed).data].map((value) => center + spread * value),
  shape,
});
function passesOfPackage() {
  using layer = new GroupedQueryAttention({
    hiddenSize: hidden,
    numHeads: heads,
    numKvHeads: kvHeads,
    qkNorm: { eps: 1e-6 },
    rope: { layout: "half", theta: 1e6 },
  });
  layer.loadStateDict({
    "q_proj.weight": drawn([heads * headDim, hidden], 2, 0, 0.25),
    "k_proj.weight": drawn([kvHeads * headDim, hidden], 3, 0, 0.25),
    "v_proj.weight": drawn([kvHeads * headDim, hidden], 4, 0, 0.25),
    "o_proj.weight": drawn([hidden, heads * headDim], 5, 0, 0.25),
    "q_norm.weight": drawn([headDim], 6, 1, 0.1),
    "k_norm.weight": drawn([headDim], 7, 1, 0.1),
  });
  const { steps } = layer.trace(randomNormal([batch, length, hidden], 1));
  return (id: string) => [...(steps.find((step) => step.id === id)?.tensor.data ?? [])];
}
const pass = passesOfPackage();

/** Head h of the first sequence of [B, n, H, E]. */
const head = (data: readonly number[], count: number, h: number) =>
  data.slice(0, length * count * headDim).filter((_, place) => Math.floor(place / headDim) % count === h);
/** Head h of the first sequence of [B, H, n, width]. */
const square = (data: readonly number[], h: number, width: number) =>
  data.slice(h * length * width, (h + 1) * length * width);

const listed = (page: Page, id: string, col: number) =>
  page
    .locator(`[data-listing="${id}"] tbody tr`)
    .evaluateAll((rows, nth) => rows.map((row) => row.children[nth]?.textContent.trim()), col);

test("each line’s tensor is the package’s: head 1, which reads key/value head 0", async ({ page, site }) => {
  const expected: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
    x: { x: [...randomNormal([batch, length, hidden], 1).data].slice(0, length * hidden) },
    project: {
      q_proj: pass("q_proj").slice(0, length * heads * headDim),
      k_proj: pass("k_proj").slice(0, length * kvHeads * headDim),
      v_proj: pass("v_proj").slice(0, length * kvHeads * headDim),
    },
    view: {
      xq: head(pass("xq"), heads, 1),
      xk: head(pass("xk"), kvHeads, 0),
      xv: head(pass("xv"), kvHeads, 0),
    },
    norm: { q_norm: head(pass("q_norm"), heads, 1), k_norm: head(pass("k_norm"), kvHeads, 0) },
    rope: {
      q_rope: head(pass("q_rope"), heads, 1),
      k_rope: head(pass("k_rope"), kvHeads, 0),
      xv: head(pass("xv"), kvHeads, 0),
    },
    cache: { past_k: head(pass("k_rope"), kvHeads, 0), past_v: head(pass("xv"), kvHeads, 0) },
    scores: { qk: square(pass("qk"), 1, length), scores: square(pass("scores"), 1, length) },
    mask: { masked: square(pass("masked"), 1, length) },
    weights: { weights: square(pass("weights"), 1, length), weightsTotal: [1, 1, 1, 1, 1] },
    values: {
      values: head(pass("xv_repeat"), heads, 1),
      head_out: square(pass("head_out"), 1, headDim),
    },
    home: {
      merged: pass("merged").slice(0, length * hidden),
      output: pass("output").slice(0, length * hidden),
    },
    branches: {
      fast: pass("output").slice(0, length * hidden),
      plain: pass("output").slice(0, length * hidden),
      difference: new Array<number>(length * hidden).fill(0),
    },
  };
  test.slow();
  for (const [step, grids] of Object.entries(expected)) {
    await open(page, site, at(step));
    for (const [grid, numbers] of Object.entries(grids)) {
      await test.step(`${step}: ${grid}`, async () => {
        expectClose(await numbersOf(page, grid), numbers, 4e-6);
      });
    }
  }
});

test("a cell of the norm and of the rotation is written out with its numbers", async ({ page, site }) => {
  await open(page, site, at("norm"));
  await cell(page, "q_norm", 2, 1).hover();
  await expect(page.locator(".readout .arithmetic")).toContainText(/÷\s√\(\s*[\d.]+\s*÷\s*4\s\+\s10⁻⁶\)\s×/);
  await open(page, site, at("rope"));
  await cell(page, "q_rope", 1, 0).hover();
  // cos 1 and sin 1: the first pair turns by one radian a position.
  await expect(page.locator(".readout .arithmetic")).toContainText("0.540");
  await expect(page.locator(".readout .arithmetic")).toContainText("0.841");
  for (const col of [0, 2]) await expect(cell(page, "q_norm", 1, col)).toHaveClass(/lit/);
});

test("both pairings keep the length, turn different pairs, and are drawn", async ({ page, site }) => {
  await open(page, site, at("pairings", "&mmTheta=10"));
  const [before, half, interleaved] = [
    await numbersOf(page, "before"),
    await numbersOf(page, "half"),
    await numbersOf(page, "interleaved"),
  ];
  const norm = (numbers: readonly number[], ...places: readonly number[]) =>
    Math.hypot(...places.map((place) => numbers[place] ?? NaN));
  for (const [turned, pairs] of [
    [
      half,
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [
      interleaved,
      [
        [0, 1],
        [2, 3],
      ],
    ],
  ] as const) {
    for (const pair of pairs) expectClose([norm(turned, ...pair)], [norm(before, ...pair)]);
  }
  // Position 2, θ = 10: pair 1 turns by 2 · 10^(−1/2).
  const angle = 2 / Math.sqrt(10);
  const [a, b] = [before[1] ?? NaN, before[3] ?? NaN];
  expectClose(
    [half[1] ?? NaN, half[3] ?? NaN],
    [a * Math.cos(angle) - b * Math.sin(angle), b * Math.cos(angle) + a * Math.sin(angle)],
  );
  expect(half).not.toEqual(interleaved);
  await expect(page.locator("[data-layout=half] svg")).toHaveCount(2);
  await expect(page.locator("[data-layout=interleaved] svg").first()).toHaveAccessibleName(
    /^components 0 and 1/,
  );
  await open(page, site, at("pairings", "&mmPosition=0"));
  expect(await numbersOf(page, "half")).toEqual(await numbersOf(page, "before"));
});

test("scores of one q and one k at all positions depend on the distance only", async ({ page, site }) => {
  await open(page, site, at("distance", "&mmStart=1000&mmTheta=10"));
  const [near, far] = [await numbersOf(page, "near"), await numbersOf(page, "far")];
  for (let row = 1; row < length; row += 1) {
    for (let col = 1; col < length; col += 1) {
      const place = row * length + col;
      expectClose([near[place] ?? NaN], [near[place - length - 1] ?? NaN], 1e-5);
    }
  }
  expectClose(far, near, 1e-5);
  expect(await numbersOf(page, "difference")).toEqual(
    near.map((score, index) => score - (far[index] ?? NaN)),
  );
  expect(new Set(near.slice(0, length)).size).toBe(length);
});

test("the cache changes no bit that matters: two calls against one", async ({ page, site }) => {
  for (const past of [1, 3, 4]) {
    await open(page, site, at("cache", `&mmPast=${String(past)}`));
    const [cached, once] = [await numbersOf(page, "cached"), await numbersOf(page, "once")];
    expectClose(cached, pass("output").slice(past * hidden, length * hidden), 4e-6);
    expectClose(cached, once);
    await expect(page.locator("[data-grid=past_k] tr.cut th")).toHaveText(`k${String(past - 1)}`);
  }
  expect(await listed(page, "cache", 2)).toEqual(["(2, 1, 2, 4)", "(2, 5, 2, 4)", "(2, 5, 2, 4)"]);
});

test("the map of heads, repeated and tiled", async ({ page, site }) => {
  const map = (id: string) =>
    page
      .locator(`[data-map="${id}"] li`)
      .evaluateAll((items) => items.map((item) => Number(/(\d+)$/.exec(item.textContent)?.[1])));
  await open(page, site, at("repeat"));
  expect(await map("right")).toEqual([0, 0, 1, 1]);
  expect(await map("tiled")).toEqual([0, 1, 0, 1]);
  await expect(page.locator("[data-map=tiled] path.wrong")).toHaveCount(2);
  await expect(page.locator("[data-map=right] path.wrong")).toHaveCount(0);
  expectClose(await numbersOf(page, "right"), square(pass("head_out"), 1, headDim), 4e-6);
  await expect(page.locator("[data-grid=tiled] td.wrong")).toHaveCount(length * headDim);
  // Head 0 reads the same either way, and so do all where there is one key/value head.
  await open(page, site, at("repeat", "&mmHead=0"));
  await expect(page.locator("[data-grid=tiled] td.wrong")).toHaveCount(0);
  await open(page, site, at("repeat", "&mmHidden=96&mmHeads=6&mmKvHeads=3"));
  expect(await map("right")).toEqual([0, 0, 1, 1, 2, 2]);
  expect(await map("tiled")).toEqual([0, 1, 2, 0, 1, 2]);
});

test("attention_mask hides a column, and a row without a key is 0", async ({ page, site }) => {
  await open(page, site, at("mask"));
  await cell(page, "keep", 0, 0).getByRole("button").click();
  await expect(page).toHaveURL(/mmKeep=01111111/);
  await expect(cell(page, "masked", 4, 0)).toHaveText("−∞");
  await open(page, site, at("weights", "&mmKeep=01111111"));
  const weights = await numbersOf(page, "weights");
  expect(weights.slice(0, length)).toEqual([0, 0, 0, 0, 0]);
  expectClose((await numbersOf(page, "weightsTotal")).slice(1), [1, 1, 1, 1]);
});

test("eight variables with their shapes at the reader’s sizes", async ({ page, site }) => {
  await open(page, site, at("variables", "&mmHidden=96&mmHeads=6&mmKvHeads=3"));
  expect(await listed(page, "variables", 0)).toEqual([
    "x",
    "xq",
    "xk",
    "xv",
    "scores",
    "attention_mask",
    "output",
    "past_kv",
  ]);
  expect(await listed(page, "variables", 1)).toEqual([
    "(2, 5, 96)",
    "(2, 5, 6, 16)",
    "(2, 5, 3, 16)",
    "(2, 5, 3, 16)",
    "(2, 6, 5, 5)",
    "(2, 5)",
    "(2, 6, 5, 16)",
    "(2, 5, 3, 16)",
  ]);
  expect(await listed(page, "variables", 2)).toEqual([
    "the same",
    "(2, 6, 5, 16)",
    "(2, 6, 5, 16)",
    "(2, 6, 5, 16)",
    "the same",
    "(2, 1, 1, 5)",
    "(2, 5, 96)",
    "(2, 5, 3, 16)",
  ]);
});

test("the labs print what the script prints, whose own side is plain JavaScript", async ({ page, site }) => {
  expect(labDefaults.seed).toBe("1");
  const sizes = (hiddenSize: number, queries: number, keys: number) => [
    "--hidden_size",
    String(hiddenSize),
    "--num_attention_heads",
    String(queries),
    "--num_key_value_heads",
    String(keys),
  ];
  await open(page, site, at("labs", "&mmHidden=32&mmHeads=8&mmKvHeads=2"));
  for (const [id, args] of [
    ["a", sizes(64, 4, 2)],
    ["b", sizes(96, 6, 3)],
    ["own", sizes(32, 8, 2)],
  ] as const) {
    const printed = await page.locator(`[data-printout="${id}"] pre`).innerText();
    expect(printed.split("\n")).toEqual(traceAttentionShapes(args).flatMap((line) => line.split("\n")));
    expect(printed).toContain("future_attention_mass_for_batch0_head0=0.0000000000");
    expect(printed).toContain("manual_vs_module_max_abs_diff=0.000000000000");
  }
});

test("wide inputs are drawn, narrow ones typed over, and the link holds it", async ({ page, site }) => {
  await open(page, site, at("x", "&mmHidden=24&mmHeads=4"));
  await cell(page, "x", 4, 23).locator("input").fill("-3");
  await expect(page).toHaveURL(/mmTokens=4\*23\*-3/);
  await open(page, site, at("x", "&mmHidden=96"));
  await expect(cell(page, "x", 0, 0).locator("input")).toHaveCount(0);
});
