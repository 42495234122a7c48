import {
  cost,
  growthExponent,
  linearAttention,
  masks,
  randomNormal,
  rowSums,
  scaledDotProductAttention,
} from "softlookup";
import { costTerms } from "../content/cost.ts";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { costChoices, costHeadCounts, costRanges } from "../state/fields/cost.ts";
import type { Inputs } from "../state/inputs.ts";
import type { AttentionTime } from "../jobs/attention-times.ts";
import type { PeakMemory } from "../jobs/peak-memory.ts";
import type { Control } from "./controls.ts";
import { equals, minus, number, sum, words } from "./explain.ts";
import { at, type Figure, firstCell, type Grid, indices, numerals } from "./figure.ts";
import { difference } from "./layers.ts";
import { count, type Entry, type Listing, textEntry } from "./listing.ts";
import { keys, outputs, queries } from "./passes.ts";
import { peersListing } from "./peers.ts";
import type { Plot } from "./plot.ts";

const bytesEntry = (value: number): Entry => ({ kind: "bytes", value });

/** A size of the sources', or the reader's own. */
const sizeEntry = (value: number, own: boolean) =>
  textEntry(own ? costTerms.yours : costTerms.plain, { value });

/** Some sizes and the reader's, each marked by whose it is. */
const withOwn = (sizes: readonly number[], own: number) => [
  ...sizes.map((size) => [size, false] as const),
  [own, true] as const,
];

/** The sizes that a step counts for. */
export function costSizes(step: string, { costLength, costDim }: Inputs) {
  switch (step) {
    case "time":
      return withOwn([512, 1024, 2048, 8192], costLength);
    case "matrix":
      return withOwn([2048, 8192], costLength);
    case "parameters":
      return withOwn([512, 1024, 2048], costDim);
    default:
      return [];
  }
}

function timeListing(inputs: Inputs): Listing {
  return {
    id: "time",
    columns: [
      costTerms.length,
      costTerms.qkv,
      costTerms.outProjection,
      costTerms.attention,
      costTerms.total,
      costTerms.share,
    ],
    rows: costSizes("time", inputs).map(([length, own]) => {
      const found = cost.operations({ length, modelDim: inputs.costDim });
      return [
        sizeEntry(length, own),
        ...[found.qkvProjection, found.outputProjection, found.attention, found.total].map(count),
        { kind: "number", value: found.attentionShare },
      ];
    }),
  };
}

function matrixListing(inputs: Inputs): Listing {
  const { costHeads } = inputs;
  return {
    id: "matrix",
    columns: [costTerms.length, costTerms.elements, costTerms.fp16One, costTerms.fp16All, costTerms.fp32All],
    columnValues: { H: costHeads },
    rows: costSizes("matrix", inputs).map(([length, own]) => {
      const memory = (numHeads: number, bytesPerElement: number) =>
        cost.scoresMemory({ length, numHeads, batch: 1, bytesPerElement });
      return [
        sizeEntry(length, own),
        count(memory(1, 2).elements),
        bytesEntry(memory(1, 2).bytes),
        bytesEntry(memory(costHeads, 2).bytes),
        bytesEntry(memory(costHeads, 4).bytes),
      ];
    }),
  };
}

function parametersListing(inputs: Inputs): Listing {
  return {
    id: "parameters",
    columns: [costTerms.width, costTerms.perMatrix, costTerms.parameters],
    rows: costSizes("parameters", inputs).map(([modelDim, own]) => {
      const { query, total } = cost.parameters({ modelDim, numHeads: 1 });
      return [sizeEntry(modelDim, own), count(query), count(total)];
    }),
  };
}

function calculatorListing(inputs: Inputs): Listing {
  const { costLength, costDim, costHeads, costLayers, costBytes } = inputs;
  const headDim = costDim / costHeads;
  const size = { length: costLength, modelDim: costDim };
  const table = (layers: number) =>
    cost.scoresMemory({
      length: costLength,
      numHeads: costHeads,
      // As many tables again as there are layers.
      batch: layers,
      bytesPerElement: costBytes,
    }).bytes;
  const cache = cost.kvCacheMemory({
    length: costLength,
    layers: costLayers,
    numKvHeads: costHeads,
    headDim,
    batch: 1,
    bytesPerElement: costBytes,
  });
  const row = (name: Text, entry: Entry) => [textEntry(name), entry];
  return {
    id: "calculator",
    columns: [costTerms.quantity, costTerms.value],
    rows: [
      row(costTerms.headDim, count(headDim)),
      row(costTerms.parameters, count(cost.parameters({ modelDim: costDim, numHeads: costHeads }).total)),
      row(costTerms.layerOperations, count(cost.operations(size).total)),
      row(costTerms.share, { kind: "number", value: cost.operations(size).attentionShare }),
      row(costTerms.decodeOperations, count(cost.decodeOperations(size).total)),
      row(costTerms.tableOne, bytesEntry(table(1))),
      row(costTerms.tableAll, bytesEntry(table(costLayers))),
      row(costTerms.kvCache, bytesEntry(cache.bytes)),
    ],
  };
}

export function costListing(step: string, inputs: Inputs): Listing | undefined {
  switch (step) {
    case "time":
      return timeListing(inputs);
    case "matrix":
      return matrixListing(inputs);
    case "parameters":
      return parametersListing(inputs);
    case "calculator":
      return calculatorListing(inputs);
    case "peers":
      return peersListing();
    default:
      return undefined;
  }
}

type Point = readonly [x: number, y: number];

/** The slope of the points on two logarithmic axes; none of fewer than two. */
function slope(points: readonly Point[]): number | undefined {
  if (points.length < 2) return undefined;
  return growthExponent(
    points.map(([size]) => size),
    points.map(([, value]) => value),
  );
}

export function costPlots(step: string, { costDim }: Inputs): readonly Plot[] {
  if (step !== "time") return [];
  const operations = costChoices.costLength.map(
    (length) => [length, cost.operations({ length, modelDim: costDim })] as const,
  );
  const projections = operations.map(
    ([length, { qkvProjection, outputProjection }]) => [length, qkvProjection + outputProjection] as const,
  );
  const pairs = operations.map(([length, found]) => [length, found.attention] as const);
  return [
    {
      id: "operations",
      title: costTerms.operationsByLength,
      x: { label: costTerms.lengthAxis, log: 2 },
      y: { label: costTerms.operationsAxis, log: 10 },
      series: [
        {
          name: costTerms.projections,
          values: { slope: slope(projections) ?? NaN },
          points: projections,
          line: "dashed",
          mark: "square",
          tone: 1,
        },
        {
          name: costTerms.pairs,
          values: { slope: slope(pairs) ?? NaN },
          points: pairs,
          line: "solid",
          mark: "circle",
        },
      ],
    },
  ];
}

// --- what is measured -----------------------------------------------------------------------------

export const sweepLengths = [64, 128, 256, 512, 1024, 2048];

const kinds = ["full", "windowed", "linear"] as const;
const looks = {
  full: { name: costTerms.full, line: "solid", mark: "circle" },
  windowed: { name: costTerms.windowed, line: "dashed", mark: "square", tone: 1 },
  linear: { name: costTerms.linear, line: "solid", mark: "cross", tone: 2 },
} as const;

const timesOf = (found: readonly AttentionTime[], kind: (typeof kinds)[number]) =>
  found.map((times) => [times.length, times[kind]] as const);

export const timesPlot = (found: readonly AttentionTime[]): Plot => ({
  id: "times",
  title: costTerms.timesTitle,
  x: { label: costTerms.lengthAxis, log: 2, from: sweepLengths[0] ?? 1, to: sweepLengths.at(-1) ?? 1 },
  y: { label: costTerms.timeAxis, log: 10, from: 0.1, to: 100 },
  series: kinds.map((kind) => ({ ...looks[kind], points: timesOf(found, kind) })),
});

/** How fast the measured times grow, over the second half of the lengths, where a call's fixed cost is small. */
export function exponentsListing(found: readonly AttentionTime[]): Listing {
  const counted = { full: 2, windowed: 1, linear: 1 };
  return {
    id: "exponents",
    columns: [costTerms.measuredName, costTerms.exponent, costTerms.counted],
    rows: kinds.map((kind) => {
      const measured = slope(timesOf(found.slice(-3), kind));
      return [
        textEntry(looks[kind].name),
        measured === undefined ? textEntry(costTerms.notYet) : { kind: "number", value: measured },
        count(counted[kind]),
      ];
    }),
  };
}

export const peakLengths = [256, 512, 1024, 1536, 2048];

const mebibytes = (bytes: number) => bytes / 2 ** 20;

export function peakPlot(withTable: readonly PeakMemory[], withoutTable: readonly PeakMemory[]): Plot {
  const points = (found: readonly PeakMemory[]) =>
    found.map(({ length, bytes }) => [length, mebibytes(bytes)] as const);
  const table = peakLengths.map((length) => {
    const { bytes } = cost.scoresMemory({ length, numHeads: 1, batch: 1, bytesPerElement: 4 });
    return [length, mebibytes(bytes)] as const;
  });
  return {
    id: "peak",
    title: costTerms.peakTitle,
    x: { label: costTerms.lengthAxis, from: 0 },
    y: { label: costTerms.memoryAxis, from: 0 },
    series: [
      { name: costTerms.withTable, points: points(withTable), line: "solid", mark: "circle" },
      { name: costTerms.withoutTable, points: points(withoutTable), line: "solid", mark: "square", tone: 1 },
      { name: costTerms.tableItself, points: table, line: "dashed" },
    ],
  };
}

// --- other ways ------------------------------------------------------------------------------------

function windowFigure({ costTokens, costWindow }: Inputs): Figure {
  const bits = Array.from(masks.window(costTokens, costTokens, costWindow).data, Number);
  const seen = rowSums({ data: bits, shape: [costTokens, costTokens] }).data;
  const total = rowSums({ data: bits, shape: [1, bits.length] }).data;
  const hidden = (row: number, col: number) => at(bits, costTokens, row, col) === 0;
  const mask: Grid = {
    id: "window",
    label: costTerms.windowMask,
    data: bits,
    rows: queries(costTokens),
    cols: keys(costTokens),
    role: "plain",
    scale: "bits",
    hidden,
    explain: (row, col) => ({
      segments: [words(hidden(row, col) ? explanations.hidden : explanations.visible, { i: row, j: col })],
      lights: [{ grid: "seen", row }],
    }),
  };
  const ones = (data: readonly number[]) => sum(data.map((value) => ({ value, role: "plain" as const })));
  const counts = (
    id: string,
    label: Text,
    data: Float32Array,
    of: (row: number) => readonly number[],
  ): Grid => ({
    id,
    label,
    data,
    rows: data.length > 1 ? queries(costTokens) : [{ name: "Σ" }],
    cols: [{ name: "Σ" }],
    role: "plain",
    scale: "none",
    explain: (row) => ({
      segments: [...ones(of(row)), ...equals(data[row] ?? NaN)],
      exact: data[row] ?? NaN,
      lights: [{ grid: "window", row }],
    }),
  });
  return {
    layout: "flow",
    grids: [
      mask,
      counts("seen", costTerms.visible, seen, (row) => bits.slice(row * costTokens, (row + 1) * costTokens)),
      counts("total", labels.total, total, () => [...seen]),
    ],
    start: { grid: "window", row: costTokens - 1, col: 0 },
  };
}

const linearDim = 4;

/** q, k and v. */
export function linearInputs({ costTokens, costSeed }: Inputs) {
  const drawn = randomNormal([3, costTokens, linearDim], costSeed);
  const part = (nth: number) => ({
    data: drawn.data.subarray(nth * costTokens * linearDim, (nth + 1) * costTokens * linearDim),
    shape: [costTokens, linearDim],
  });
  return [part(0), part(1), part(2)] as const;
}

function linearFigure(inputs: Inputs): Figure {
  const { costTokens } = inputs;
  const given = linearInputs(inputs);
  const soft = scaledDotProductAttention(...given, { causal: true }).output.data;
  const linear = linearAttention(...given, { causal: true }).output.data;
  const apart = difference(soft, linear);
  const shown = (id: string, label: Text, data: Float32Array): Grid => ({
    id,
    label,
    data,
    rows: outputs(costTokens),
    cols: numerals(linearDim),
    role: "plain",
    scale: "signed",
    explain(row, col) {
      const exact = at(data, linearDim, row, col);
      const [one, other] = [at(soft, linearDim, row, col), at(linear, linearDim, row, col)];
      return {
        segments: id === "difference" ? minus(one, other, exact) : [number(exact)],
        exact,
        lights: ["soft", "linear", "difference"].map((grid) => ({ grid, row, col })),
      };
    },
  });
  return {
    layout: "flow",
    grids: [
      shown("soft", costTerms.softmaxOutput, soft),
      { ...shown("linear", costTerms.linearOutput, linear), sign: "−" },
      { ...shown("difference", labels.difference, apart), sign: "=" },
    ],
    start: { ...firstCell("difference"), row: indices(costTokens).length - 1 },
  };
}

export function costFigure(step: string, inputs: Inputs): Figure | undefined {
  switch (step) {
    case "window":
      return windowFigure(inputs);
    case "linear":
      return linearFigure(inputs);
    default:
      return undefined;
  }
}

// --- settings -------------------------------------------------------------------------------------

export function costControls(step: string, { costDim, costTokens }: Inputs): readonly Control[] {
  const steps = (key: keyof typeof costChoices, label: Text) =>
    ({ kind: "steps", key, label, values: costChoices[key] }) as const;
  const length = steps("costLength", ui.length);
  const width = steps("costDim", ui.modelDim);
  const heads = {
    kind: "steps",
    key: "costHeads",
    label: ui.headCount,
    values: costHeadCounts(costDim),
  } as const;
  const tokens = {
    kind: "slider",
    key: "costTokens",
    label: ui.length,
    range: costRanges.costTokens,
  } as const;
  switch (step) {
    case "time":
      return [length, width];
    case "matrix":
      return [length, heads];
    case "parameters":
      return [width];
    case "calculator":
      return [length, width, heads, steps("costLayers", ui.layers), steps("costBytes", ui.bytesPerNumber)];
    case "measure":
      return [steps("sweepDim", ui.dim), steps("sweepWindow", costTerms.window)];
    case "window":
      return [tokens, { kind: "slider", key: "costWindow", label: costTerms.window, range: [1, costTokens] }];
    case "linear":
      return [tokens, { kind: "number", key: "costSeed", label: ui.seed, range: costRanges.costSeed }];
    default:
      return [];
  }
}
