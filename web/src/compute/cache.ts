import { cost, KVCache, masks, randomNormal, scaledDotProductAttention } from "softlookup";
import { cacheTerms } from "../content/cache.ts";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { cacheRanges, memoryChoices, modelDims } from "../state/fields/cache.ts";
import type { Inputs } from "../state/inputs.ts";
import type { DecodeTime } from "../jobs/decode-times.ts";
import { type Control, seedControl } from "./controls.ts";
import { equals, gap, given, minus, symbol, words } from "./explain.ts";
import { at, type Figure, firstCell, type Grid, indices, numerals, passes, symbols } from "./figure.ts";
import { difference, largest, withLayer } from "./layers.ts";
import { keys, outputExplanation, outputs, queries, weightsGrid } from "./passes.ts";
import type { Plot } from "./plot.ts";
import { sameBits } from "./answers/answer.ts";

const dim = 2;

/** Of queries, keys and values. */
export const sequenceSeed = ({ seed }: Inputs, nth: number) => seed * 3 + nth;

/** Queries, keys and values [n, 2] of the generated tokens. */
export function sequence(inputs: Inputs) {
  const draw = (nth: number) => randomNormal([inputs.generated, dim], sequenceSeed(inputs, nth)).data;
  return { q: draw(0), k: draw(1), v: draw(2) };
}

const rowsOf = (data: Float32Array, from: number, to: number) => ({
  data: data.slice(from * dim, to * dim),
  shape: [1, 1, to - from, dim],
});

/** Causal attention over the first `count` tokens, from scratch. */
function afresh(inputs: Inputs, count: number) {
  const { q, k, v } = sequence(inputs);
  const options = { causal: true } as const;
  return passes(
    scaledDotProductAttention.trace(rowsOf(q, 0, count), rowsOf(k, 0, count), rowsOf(v, 0, count), options),
  );
}

/** All outputs, fed into an empty cache `chunk` tokens at a time. */
function throughCache(inputs: Inputs, chunk: number): number[] {
  const { q, k, v } = sequence(inputs);
  const { generated } = inputs;
  const size = { batch: 1, numKvHeads: 1, headDim: dim, capacity: generated };
  return withLayer(new KVCache(size), (cache) =>
    indices(Math.ceil(generated / chunk)).flatMap((index) => {
      const [from, to] = [index * chunk, Math.min((index + 1) * chunk, generated)];
      const tokens = [rowsOf(q, from, to), rowsOf(k, from, to), rowsOf(v, from, to)] as const;
      return [...scaledDotProductAttention(...tokens, { causal: true, cache }).output.data];
    }),
  );
}

/** What the cache makes of the sequence beside what comes of it as a whole. */
export function comparison(inputs: Inputs, chunk: number) {
  const { q, k, v } = sequence(inputs);
  const all = (data: Float32Array) => rowsOf(data, 0, inputs.generated);
  const whole = scaledDotProductAttention(all(q), all(k), all(v), { causal: true }).output.data;
  const cached = throughCache(inputs, chunk);
  const differences = difference(cached, whole);
  return { whole, cached, differences, largest: largest(differences), same: sameBits(cached, whole) };
}

/** The tokens of the chunk that a position lies in, and how many came before. */
function chunkAt({ position, chunk, generated }: Inputs) {
  const past = Math.floor(position / chunk) * chunk;
  return { past, size: Math.min(chunk, generated - past) };
}

function vectorsGrid(
  name: "q" | "k" | "v",
  label: Text,
  data: Float32Array,
  range: readonly [from: number, to: number],
  note: (row: number) => Text,
): Grid {
  const role = ({ q: "query", k: "key", v: "value" } as const)[name];
  const [from, to] = range;
  const shown = data.subarray(from * dim, to * dim);
  return {
    id: name,
    label,
    data: shown,
    rows: symbols(name, to, role).slice(from),
    cols: numerals(dim),
    role,
    scale: "signed",
    explain(row, col) {
      const exact = at(shown, dim, row, col);
      return {
        segments: given(
          symbol(name, `${String(from + row)},${String(col)}`, role),
          exact,
          role,
          words(note(from + row)),
        ),
        exact,
        lights: [],
      };
    },
  };
}

/** Numbers that are only compared, not derived. */
function plainGrid(id: string, label: Text, data: ArrayLike<number>, rows: Grid["rows"], note: Text): Grid {
  return {
    id,
    label,
    data,
    rows,
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    explain(row, col) {
      const exact = at(data, dim, row, col);
      return { segments: [words(note, { i: row }), ...equals(exact)], exact, lights: [] };
    },
  };
}

/** A triangle of weights and its outputs, after so many tokens. */
function triangle(inputs: Inputs, which: "Until" | "Now", count: number): readonly [Grid, Grid] {
  const pass = afresh(inputs, count);
  const { v } = sequence(inputs);
  const names = {
    Until: { weights: cacheTerms.weightsUntil, output: cacheTerms.outputUntil },
    Now: { weights: cacheTerms.weightsNow, output: cacheTerms.outputNow },
  }[which];
  const divided = weightsGrid(
    { data: pass.weights, rows: queries(count), cols: keys(count) },
    pass.exp,
    pass.rowSum,
    { id: `weights${which}`, label: names.weights, hidden: (row, col) => col > row },
  );
  const output: Grid = {
    id: `output${which}`,
    label: names.output,
    data: pass.output,
    rows: outputs(count),
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    explain: outputExplanation(divided, v, pass.output, dim, { weights: divided.id, values: "" }),
  };
  return [divided, output];
}

/** The later of two runs: rows that were there before are compared, the last one is new. */
function grown(before: Grid, now: Grid, kept: number): Grid {
  const [was, is] = [before.cols.length, now.cols.length];
  const unmoved = (row: number) =>
    indices(was).every((col) => Object.is(at(before.data, was, row, col), at(now.data, is, row, col)));
  return {
    ...now,
    cutAfter: kept - 1,
    moved: (row) => (row < kept && !unmoved(row) ? "leak" : undefined),
    explain(row, col) {
      const explanation = now.explain(row, col);
      const note = row >= kept ? cacheTerms.newRow : unmoved(row) ? explanations.unmoved : explanations.moved;
      return {
        ...explanation,
        segments: [...explanation.segments, gap, words(note)],
        lights: [...explanation.lights, ...(row < kept && col < was ? [{ grid: before.id, row, col }] : [])],
      };
    },
  };
}

function rowFigure(inputs: Inputs): Figure {
  const { position } = inputs;
  const [weights, output] = triangle(inputs, "Until", position);
  const [weightsNow, outputNow] = triangle(inputs, "Now", position + 1);
  return {
    layout: "pairs",
    grids: [weights, grown(weights, weightsNow, position), output, grown(output, outputNow, position)],
    start: { grid: "weightsNow", row: position, col: 0 },
  };
}

/** A causal mask [count, S] for the queries from `past` on, lined up with one corner or the other. */
function maskGrid(
  id: string,
  label: Text,
  past: number,
  count: number,
  align: "bottom-right" | "top-left",
): Grid {
  const all = past + count;
  const { data } = masks.causal(count, all, align);
  return {
    id,
    label,
    data,
    rows: queries(all).slice(past),
    cols: keys(all),
    role: "plain",
    scale: "bits",
    hidden: (row, col) => at(data, all, row, col) === 0,
    explain: (row, col) => ({
      segments: [
        words(at(data, all, row, col) === 1 ? explanations.visible : explanations.hidden, {
          i: past + row,
          j: col,
        }),
      ],
      lights: [],
    }),
  };
}

function maskFigure({ position }: Inputs): Figure {
  const triangle = maskGrid("triangle", labels.causal, 0, position + 1, "bottom-right");
  return {
    layout: "flow",
    grids: [
      { ...triangle, cutAfter: position - 1 },
      maskGrid("step", cacheTerms.stepMask, position, 1, "bottom-right"),
      maskGrid("misaligned", cacheTerms.misaligned, position, 1, "top-left"),
    ],
    start: { grid: "step", row: 0, col: position },
  };
}

function cachedFigure(inputs: Inputs): Figure {
  const { position } = inputs;
  const count = position + 1;
  const { q, k, v } = sequence(inputs);
  const pass = passes(
    scaledDotProductAttention.trace(rowsOf(q, position, count), rowsOf(k, 0, count), rowsOf(v, 0, count)),
  );
  const stored = (row: number) => (row < position ? cacheTerms.fromCache : cacheTerms.appended);
  const rows = queries(count).slice(position);
  const square = { data: pass.weights, rows, cols: keys(count) };
  const divided = weightsGrid(square, pass.exp, pass.rowSum);
  const weights: Grid = {
    ...divided,
    explain: (row, col) => ({
      ...divided.explain(row, col),
      lights: [{ grid: "q" }, { grid: "k", row: col }],
    }),
  };
  const output: Grid = {
    id: "output",
    label: cacheTerms.outputRow,
    data: pass.output,
    rows: outputs(count).slice(position),
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    explain: outputExplanation(square, v, pass.output, dim, { weights: "weights", values: "v" }),
  };
  const cutAfter = position - 1;
  return {
    layout: "flow",
    grids: [
      vectorsGrid("q", cacheTerms.newQuery, q, [position, count], () => cacheTerms.dropped),
      { ...vectorsGrid("k", cacheTerms.cachedKeys, k, [0, count], stored), cutAfter },
      { ...weights, sign: "→" },
      { ...vectorsGrid("v", cacheTerms.cachedValues, v, [0, count], stored), cutAfter },
      { ...output, sign: "→" },
    ],
    start: firstCell("output"),
  };
}

function comparisonGrids(inputs: Inputs, chunk: number): readonly Grid[] {
  const { whole, cached, differences } = comparison(inputs, chunk);
  const rows = outputs(inputs.generated);
  return [
    plainGrid("whole", cacheTerms.whole, whole, rows, cacheTerms.atOnce),
    plainGrid("through", cacheTerms.throughCache, cached, rows, cacheTerms.fromCacheRow),
    {
      ...plainGrid("difference", labels.difference, differences, rows, cacheTerms.atOnce),
      explain(row, col) {
        const exact = at(differences, dim, row, col);
        return {
          segments: minus(at(cached, dim, row, col), at(whole, dim, row, col), exact),
          exact,
          lights: ["whole", "through"].map((grid) => ({ grid, row, col })),
        };
      },
    },
  ];
}

function chunksFigure(inputs: Inputs): Figure {
  const { past, size } = chunkAt(inputs);
  return {
    layout: "flow",
    grids: [
      maskGrid("chunkMask", cacheTerms.chunkMask, past, size, "bottom-right"),
      maskGrid("misaligned", cacheTerms.misaligned, past, size, "top-left"),
      ...comparisonGrids(inputs, inputs.chunk),
    ],
    start: firstCell("chunkMask"),
  };
}

export function cacheFigure(step: string, inputs: Inputs): Figure | undefined {
  switch (step) {
    case "row":
      return rowFigure(inputs);
    case "mask":
      return maskFigure(inputs);
    case "cached":
      return cachedFigure(inputs);
    case "equal":
      return { layout: "flow", grids: comparisonGrids(inputs, 1), start: firstCell("difference") };
    case "chunks":
      return chunksFigure(inputs);
    default:
      return undefined;
  }
}

/** How many tokens go in at once, at the steps that compare. */
export const chunkOf = (step: string, inputs: Inputs): number | undefined =>
  ({ equal: 1, chunks: inputs.chunk })[step];

export function cacheControls(step: string, { generated }: Inputs): readonly Control[] {
  const length = {
    kind: "slider",
    key: "generated",
    label: ui.length,
    range: cacheRanges.generated,
  } as const;
  const position = {
    kind: "slider",
    key: "position",
    label: cacheTerms.position,
    range: [1, generated - 1],
  } as const;
  const chunk = { kind: "slider", key: "chunk", label: cacheTerms.chunk, range: [1, generated] } as const;
  const steps = (key: keyof typeof memoryChoices, label: Text) =>
    ({ kind: "steps", key, label, values: memoryChoices[key] }) as const;
  switch (step) {
    case "row":
    case "cached":
      return [length, position, seedControl];
    case "mask":
      return [length, position];
    case "equal":
      return [length, seedControl];
    case "chunks":
      return [length, chunk, position, seedControl];
    case "count":
      return [{ kind: "steps", key: "modelDim", label: ui.modelDim, values: modelDims }];
    case "memory":
      return [
        steps("memoryLength", cacheTerms.tokens),
        steps("memoryLayers", ui.layers),
        steps("memoryKvHeads", ui.kvHeads),
        steps("memoryHeadDim", ui.dim),
        steps("memoryBatch", ui.batch),
        steps("memoryBytes", ui.bytesPerNumber),
      ];
    default:
      return [];
  }
}

/** Lengths that operations are counted for. */
export const countLengths = indices(13).map((power) => 2 ** (power + 3));

export function cachePlots(step: string, { modelDim }: Inputs): readonly Plot[] {
  if (step !== "count") return [];
  const points = (count: (length: number) => number) =>
    countLengths.map((length) => [length, count(length)] as const);
  return [
    {
      id: "operations",
      title: cacheTerms.operationsByLength,
      x: { label: cacheTerms.tokensSoFar, log: 2 },
      y: { label: cacheTerms.operations, log: 10 },
      series: [
        {
          name: cacheTerms.anew,
          line: "dashed",
          mark: "square",
          tone: 1,
          points: points((length) => cost.operations({ length, modelDim }).total),
        },
        {
          name: cacheTerms.withCache,
          line: "solid",
          mark: "circle",
          points: points((length) => cost.decodeOperations({ length, modelDim }).total),
        },
      ],
    },
  ];
}

export const timesPlot = (found: readonly DecodeTime[]): Plot => ({
  id: "times",
  title: cacheTerms.timeByLength,
  x: { label: cacheTerms.tokensSoFar, log: 2, from: 32, to: 512 },
  y: { label: cacheTerms.milliseconds, log: 10, from: 0.01, to: 10 },
  series: [
    {
      name: cacheTerms.anew,
      line: "dashed",
      mark: "square",
      tone: 1,
      points: found.map(({ length, anew }) => [length, anew]),
    },
    {
      name: cacheTerms.withCache,
      line: "solid",
      mark: "circle",
      points: found.map(({ length, cached }) => [length, cached]),
    },
  ],
});

/** The bytes that keys and values take, for the calculator’s settings. */
export const cacheBytes = (inputs: Inputs): number =>
  cost.kvCacheMemory({
    length: inputs.memoryLength,
    layers: inputs.memoryLayers,
    numKvHeads: inputs.memoryKvHeads,
    headDim: inputs.memoryHeadDim,
    batch: inputs.memoryBatch,
    bytesPerElement: inputs.memoryBytes,
  }).bytes;
