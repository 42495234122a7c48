import { additiveAttention, masks, scaledDotProductAttention } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import { lookupTerms } from "../content/lookup.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { temperatures } from "../state/fields/lookup.ts";
import type { Inputs } from "../state/inputs.ts";
import type { Control } from "./controls.ts";
import { equals, gap, given, number, productSum, share, symbol, text, words } from "./explain.ts";
import {
  at,
  type Explanation,
  type Figure,
  firstCell,
  type Grid,
  indices,
  numerals,
  passes,
  type Symbol,
  symbols,
} from "./figure.ts";
import type { Plot } from "./plot.ts";
import { outputExplanation, weightsGrid } from "./passes.ts";
import { type Change, typedGrid } from "./typed.ts";

const entries = 4;
const dim = 2;
const units = 4;

const table = (data: readonly number[], rows: number) => ({ data, shape: [rows, data.length / rows] });

const entryRows = symbols("k", entries, "key");
const answerRow: readonly Symbol[] = [{ name: "o" }];
const values = (data: ArrayLike<number>) => Float32Array.from(data);

function inputGrids(inputs: Inputs, change: Change) {
  const cols = numerals(dim);
  return {
    query: typedGrid("query", inputs, change, {
      label: lookupTerms.query,
      rows: [{ name: "q", role: "query" }],
      cols,
      role: "query",
      name: "q",
      note: lookupTerms.lookupQuery,
    }),
    keys: typedGrid("keys", inputs, change, {
      label: labels.k,
      rows: entryRows,
      cols,
      role: "key",
      name: "k",
      note: explanations.key,
    }),
    values: typedGrid("values", inputs, change, {
      label: labels.v,
      rows: symbols("v", entries, "value"),
      cols,
      role: "value",
      name: "v",
      note: explanations.value,
    }),
  };
}

/** One number for each entry, as a column beside the keys. */
function column(
  names: { id: string; label: Text; name: string; rows?: readonly Symbol[] },
  data: ArrayLike<number>,
  explain: (entry: number, exact: number) => Omit<Explanation, "exact">,
): Grid {
  return {
    id: names.id,
    label: names.label,
    data,
    rows: names.rows ?? entryRows,
    cols: [{ name: names.name }],
    role: "plain",
    scale: "signed",
    explain(row) {
      const exact = data[row] ?? NaN;
      return { ...explain(row, exact), exact };
    },
  };
}

const asWeights = (grid: Grid): Grid => ({ ...grid, role: "weight", scale: "weights" });

const products = (q: ArrayLike<number>, k: ArrayLike<number>, entry: number) =>
  productSum(
    indices(dim).map((e) => [
      { value: q[e] ?? NaN, role: "query" },
      { value: at(k, dim, entry, e), role: "key" },
    ]),
  );

/** The weights of one query, each as its share of the row of logits that stands in grid `from`. */
function weightColumn(
  names: Parameters<typeof column>[0],
  { weights, rowMax, rowSum }: Readonly<Record<"weights" | "rowMax" | "rowSum", ArrayLike<number>>>,
  logits: ArrayLike<number>,
  from: string,
): Grid {
  return asWeights(
    column(names, weights, (entry, exact) => ({
      segments: share(logits[entry] ?? NaN, rowMax[0] ?? NaN, rowSum[0] ?? NaN, exact),
      lights: [{ grid: from }],
    })),
  );
}

function answerGrid(weights: Grid, v: ArrayLike<number>, output: ArrayLike<number>): Grid {
  const row = { data: weights.data, rows: answerRow, cols: weights.rows };
  const explain = outputExplanation(row, values(v), output, dim, { weights: "", values: "values" });
  return {
    id: "answer",
    label: lookupTerms.answer,
    data: output,
    rows: answerRow,
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
    explain(_, col) {
      const explanation = explain(0, col);
      return { ...explanation, lights: [...explanation.lights, { grid: weights.id }] };
    },
  };
}

function scoresColumn(inputs: Inputs, scores: ArrayLike<number>): Grid {
  const [q, k] = [values(inputs.query), values(inputs.keys)];
  return column({ id: "scores", label: lookupTerms.entryScores, name: "s" }, scores, (entry, exact) => ({
    segments: [
      symbol("q", "", "query"),
      text(" · "),
      symbol("k", entry, "key"),
      text(" = "),
      ...products(q, k, entry),
      ...equals(exact),
    ],
    lights: [{ grid: "query" }, { grid: "keys", row: entry }],
  }));
}

/** Queries [L, 2] on the reader's dictionary. */
function look(queries: readonly number[], inputs: Inputs, options: { scale: number; mask?: Uint8Array }) {
  const count = queries.length / dim;
  const mask = options.mask && { data: options.mask, shape: [count, entries] };
  const dictionary = [
    table(queries, count),
    table(inputs.keys, entries),
    table(inputs.values, entries),
  ] as const;
  return passes(scaledDotProductAttention.trace(...dictionary, { scale: options.scale, mask }));
}

/** The hard lookup: a softmax that sees the best entries only. */
export function lookHard(queries: readonly number[], inputs: Inputs) {
  const { scores, rowMax } = look(queries, inputs, { scale: 1 });
  const best = Uint8Array.from(scores, (score, index) =>
    Number(score === rowMax[Math.floor(index / entries)]),
  );
  return look(queries, inputs, { scale: 1, mask: best });
}

export const lookSoft = (queries: readonly number[], inputs: Inputs, temperature = inputs.temperature) =>
  look(queries, inputs, { scale: 1 / temperature });

function hardFigure(inputs: Inputs, change: Change): Figure {
  const grids = inputGrids(inputs, change);
  const pass = lookHard(inputs.query, inputs);
  const weights = asWeights(
    column({ id: "weights", label: lookupTerms.entryWeights, name: "w" }, pass.weights, (_, exact) => ({
      segments: [words(exact === 1 ? lookupTerms.best : exact === 0 ? lookupTerms.beaten : lookupTerms.tied)],
      lights: [{ grid: "scores" }],
    })),
  );
  return {
    layout: "flow",
    grids: [
      grids.query,
      grids.keys,
      { ...scoresColumn(inputs, pass.scores), sign: "→" },
      { ...weights, sign: "→" },
      grids.values,
      { ...answerGrid(weights, inputs.values, pass.output), sign: "→" },
    ],
    start: firstCell("scores"),
  };
}

function softFigure(inputs: Inputs, change: Change): Figure {
  const grids = inputGrids(inputs, change);
  const pass = lookSoft(inputs.query, inputs);
  const tempered = column(
    { id: "tempered", label: lookupTerms.tempered, name: "s" },
    pass.scaled,
    (entry, exact) => ({
      segments: [
        number(pass.scores[entry] ?? NaN),
        text(" ÷ "),
        number(inputs.temperature),
        ...equals(exact),
      ],
      lights: [{ grid: "scores", row: entry }],
    }),
  );
  const weights = weightColumn(
    { id: "weights", label: lookupTerms.entryWeights, name: "w" },
    pass,
    pass.scaled,
    "tempered",
  );
  return {
    layout: "flow",
    grids: [
      grids.query,
      grids.keys,
      { ...scoresColumn(inputs, pass.scores), sign: "→" },
      { ...tempered, sign: "→" },
      { ...weights, sign: "→" },
      grids.values,
      { ...answerGrid(weights, inputs.values, pass.output), sign: "→" },
    ],
    start: firstCell("weights"),
  };
}

const parameters = (inputs: Inputs) => ({
  W: table(inputs.addW, units),
  U: table(inputs.addU, units),
  b: inputs.addB,
  v: inputs.addV,
});

const parameterNames = {
  addW: { name: "W", label: lookupTerms.addW },
  addU: { name: "U", label: lookupTerms.addU },
  addB: { name: "b", label: lookupTerms.addB },
  addV: { name: "vₐ", label: lookupTerms.addV },
} as const;

function parameterGrid(key: keyof typeof parameterNames, inputs: Inputs, change: Change): Grid {
  const isMatrix = key === "addW" || key === "addU";
  const { name, label } = parameterNames[key];
  return typedGrid(key, inputs, change, {
    label,
    rows: isMatrix ? numerals(units) : [{ name }],
    cols: numerals(isMatrix ? dim : units),
    name,
    note: explanations.parameter,
  });
}

/** Rows of a projection: M x, and b where there is one. */
function projection(
  names: { id: string; label: Text; rows: readonly Symbol[]; source: string; matrix: string },
  data: ArrayLike<number>,
  source: readonly number[],
  matrix: readonly number[],
  role: "query" | "key",
  bias?: readonly number[],
): Grid {
  const [x, m] = [values(source), values(matrix)];
  return {
    id: names.id,
    label: names.label,
    data,
    rows: names.rows,
    cols: numerals(units),
    role,
    scale: "signed",
    explain(row, col) {
      const exact = at(data, units, row, col);
      const pairs = indices(dim).map(
        (e) =>
          [
            { value: at(m, dim, col, e), role: "plain" },
            { value: at(x, dim, row, e), role },
          ] as const,
      );
      const shift = bias ? [text(" + "), number(Math.fround(bias[col] ?? NaN), "plain", true)] : [];
      return {
        segments: [...productSum(pairs), ...shift, ...equals(exact)],
        exact,
        lights: [
          { grid: names.matrix, row: col },
          { grid: names.source, row },
          ...(bias ? [{ grid: "addB", col }] : []),
        ],
      };
    },
  };
}

/** v · tanh(one + other), term by term. */
function additiveTerms(v: ArrayLike<number>, one: (unit: number) => number, other: (unit: number) => number) {
  return indices(units).flatMap((unit) => [
    ...(unit === 0 ? [] : [text(" + ")]),
    number(v[unit] ?? NaN, "plain", unit > 0),
    text(" tanh("),
    number(one(unit), "query"),
    text("\u00a0+ "),
    number(other(unit), "key", true),
    text(")"),
  ]);
}

function additiveFigure(step: string, inputs: Inputs, change: Change): Figure {
  const grids = inputGrids(inputs, change);
  const pass = passes(
    additiveAttention.trace(
      table(inputs.query, 1),
      table(inputs.keys, entries),
      table(inputs.values, entries),
      parameters(inputs),
    ),
  );
  const moved = projection(
    {
      id: "addQuery",
      label: lookupTerms.addQuery,
      rows: [{ name: "q", role: "query" }],
      source: "query",
      matrix: "addW",
    },
    pass.query,
    inputs.query,
    inputs.addW,
    "query",
    inputs.addB,
  );
  const keyed = projection(
    { id: "addKey", label: lookupTerms.addKey, rows: entryRows, source: "keys", matrix: "addU" },
    pass.key,
    inputs.keys,
    inputs.addU,
    "key",
  );
  const parameter = (key: keyof typeof parameterNames) => parameterGrid(key, inputs, change);
  if (step === "additive") {
    return {
      layout: "flow",
      grids: [
        grids.query,
        parameter("addW"),
        parameter("addB"),
        { ...moved, sign: "→" },
        grids.keys,
        parameter("addU"),
        { ...keyed, sign: "→" },
      ],
      start: firstCell("addQuery"),
    };
  }

  const v = values(inputs.addV);
  const scores = column(
    { id: "addScores", label: lookupTerms.addScores, name: "s" },
    pass.scores,
    (entry, exact) => ({
      segments: [
        ...additiveTerms(
          v,
          (unit) => pass.query[unit] ?? NaN,
          (unit) => at(pass.key, units, entry, unit),
        ),
        ...equals(exact),
      ],
      lights: [{ grid: "addQuery" }, { grid: "addKey", row: entry }, { grid: "addV" }],
    }),
  );
  const weights = weightColumn(
    { id: "addWeights", label: lookupTerms.addWeights, name: "w" },
    pass,
    pass.scores,
    "addScores",
  );
  const dot = look(inputs.query, inputs, { scale: 1 });
  const dotWeights = weightColumn(
    { id: "dotWeights", label: lookupTerms.dotWeights, name: "w" },
    dot,
    dot.scores,
    "scores",
  );
  return {
    layout: "flow",
    grids: [
      grids.query,
      grids.keys,
      moved,
      keyed,
      parameter("addV"),
      { ...scores, sign: "→" },
      { ...weights, sign: "→" },
      scoresColumn(inputs, dot.scores),
      { ...dotWeights, sign: "→" },
    ],
    start: firstCell("addScores"),
  };
}

const source = ["I", "love", "NLP"].map((name): Symbol => ({ name, role: "key", word: true }));
const target = ["我", "爱", "自然", "语言", "处理"].map((name): Symbol => ({ name, word: true }));

function translationFigure(step: string, inputs: Inputs, change: Change): Figure {
  const encoder = typedGrid("encoder", inputs, change, {
    label: lookupTerms.encoder,
    rows: source,
    cols: numerals(dim),
    role: "key",
    name: "h",
    note: lookupTerms.encoderNote,
  });
  const decoder = typedGrid("decoder", inputs, change, {
    label: lookupTerms.decoder,
    rows: target.map((word) => ({ ...word, role: "query" })),
    cols: numerals(dim),
    role: "query",
    name: "z",
    note: lookupTerms.decoderNote,
  });
  const contexts: Omit<Grid, "label" | "data" | "explain"> = {
    id: "contexts",
    rows: target,
    cols: numerals(dim),
    role: "plain",
    scale: "signed",
  };

  if (step === "bottleneck") {
    const last = source.length - 1;
    const stored = values(inputs.encoder.slice(last * dim));
    const fixed: Grid = {
      ...contexts,
      label: lookupTerms.fixedContexts,
      data: target.flatMap(() => [...stored]),
      explain: (_, col) => ({
        segments: given(
          symbol("h", `${String(last)},${String(col)}`),
          stored[col] ?? NaN,
          "plain",
          words(lookupTerms.lastOutput),
        ),
        exact: stored[col] ?? NaN,
        lights: [{ grid: "encoder", row: last, col }],
      }),
    };
    return {
      layout: "flow",
      grids: [encoder, decoder, { ...fixed, sign: "→" }],
      start: firstCell("contexts"),
    };
  }

  const states = table(inputs.encoder, source.length);
  const pass = passes(
    additiveAttention.trace(table(inputs.decoder, target.length), states, states, parameters(inputs)),
  );
  const square = { data: pass.weights, rows: target, cols: source };
  const weights = weightsGrid(square, pass.exp, pass.rowSum, { label: lookupTerms.lookWeights });
  const blended: Grid = {
    ...contexts,
    label: lookupTerms.contexts,
    data: pass.output,
    explain: outputExplanation(square, values(inputs.encoder), pass.output, dim, {
      weights: "weights",
      values: "encoder",
    }),
  };
  return {
    layout: "flow",
    grids: [decoder, encoder, { ...weights, sign: "→" }, { ...blended, sign: "→" }],
    start: firstCell("weights"),
  };
}

const letters = ["A", "B", "C", "D"];
const asker = 2;

/** C's query, and the keys that it may see. */
export const askerOf = ({ q }: Inputs) => ({
  q: q.slice(asker * dim, (asker + 1) * dim),
  seen: masks.causal(entries).data.slice(asker * entries, (asker + 1) * entries),
});

/** Row 2 of the 4-token example under the causal mask, as C's own lookup. */
function oneTokenFigure(inputs: Inputs, change: Change): Figure {
  const named = (name: string, role: "key" | "value") =>
    letters.map((index): Symbol => ({ name, index, role }));
  const cols = numerals(dim);
  const { q, seen } = askerOf(inputs);
  const pass = passes(
    scaledDotProductAttention.trace(table(q, 1), table(inputs.k, entries), table(inputs.v, entries), {
      mask: { data: seen, shape: [1, entries] },
    }),
  );
  const query = typedGrid("q", inputs, change, {
    label: labels.q,
    rows: letters.map((index): Symbol => ({ name: "q", index, role: "query" })),
    cols,
    role: "query",
    name: "q",
    note: explanations.query,
  });
  const keys = typedGrid("k", inputs, change, {
    label: labels.k,
    rows: named("k", "key"),
    cols,
    role: "key",
    name: "k",
    note: explanations.key,
  });
  const valueGrid = {
    ...typedGrid("v", inputs, change, {
      label: labels.v,
      rows: named("v", "value"),
      cols,
      role: "value",
      name: "v",
      note: explanations.value,
    }),
  };
  const rows = named("k", "key");
  const hidden = (row: number) => seen[row] === 0;
  const [storedQ, storedK] = [values(q), values(inputs.k)];
  const scores: Grid = {
    ...column(
      { id: "scores", label: lookupTerms.entryScaled, name: "s", rows },
      pass.masked,
      (entry, exact) => ({
        segments: hidden(entry)
          ? [
              number(pass.scaled[entry] ?? NaN),
              text(" + "),
              number(-Infinity, "plain", true),
              ...equals(exact),
              gap,
              words(lookupTerms.unseen),
            ]
          : [
              text("("),
              ...products(storedQ, storedK, entry),
              text(") ÷ "),
              words(explanations.root),
              ...equals(exact),
            ],
        lights: [
          { grid: "q", row: asker },
          { grid: "k", row: entry },
        ],
      }),
    ),
    hidden,
  };
  const weights: Grid = {
    ...weightColumn(
      { id: "weights", label: lookupTerms.entryWeights, name: "w", rows },
      pass,
      pass.masked,
      "scores",
    ),
    hidden,
  };
  const output = answerGrid(weights, inputs.v, pass.output);
  return {
    layout: "flow",
    grids: [
      query,
      keys,
      { ...scores, sign: "→" },
      { ...weights, sign: "→" },
      valueGrid,
      { ...output, rows: [{ name: "o", index: "C" }], sign: "→" },
    ],
    start: firstCell("scores"),
  };
}

export function lookupFigure(step: string, inputs: Inputs, change: Change): Figure {
  switch (step) {
    case "hard":
      return hardFigure(inputs, change);
    case "soft":
    case "temperature":
    case "nudge":
      return softFigure(inputs, change);
    case "additive":
    case "additive-scores":
      return additiveFigure(step, inputs, change);
    case "bottleneck":
    case "look-back":
      return translationFigure(step, inputs, change);
    default:
      return oneTokenFigure(inputs, change);
  }
}

export function lookupControls(step: string): readonly Control[] {
  return ["soft", "temperature", "nudge"].includes(step)
    ? [{ kind: "steps", key: "temperature", label: lookupTerms.temperature, values: temperatures }]
    : [];
}

const looks = [
  { line: "solid", mark: "circle" },
  { line: "solid", mark: "square", tone: 1 },
  { line: "dashed", mark: "cross", tone: 2 },
  { line: "dashed", mark: "circle", tone: 3 },
] as const;

/** The first components that the query runs through: −2 to 2. */
const sweep = indices(81).map((index) => (index - 40) / 20);

export function lookupPlots(step: string, inputs: Inputs): readonly Plot[] {
  if (step === "temperature") {
    const weights = temperatures.map((temperature) => lookSoft(inputs.query, inputs, temperature).weights);
    return [
      {
        id: "temperature",
        title: lookupTerms.weightsByTemperature,
        x: { label: lookupTerms.temperature, log: 10 },
        y: { label: ui.weight, from: 0, to: 1 },
        here: inputs.temperature,
        series: looks.map((look, entry) => ({
          ...look,
          name: lookupTerms.weightOf,
          values: { j: entry },
          points: temperatures.map((temperature, index) => [temperature, weights[index]?.[entry] ?? NaN]),
        })),
      },
    ];
  }
  if (step !== "nudge") return [];
  const queries = sweep.flatMap((first) => [first, inputs.query[1] ?? 0]);
  const first = (output: ArrayLike<number>) =>
    sweep.map((x, index) => [x, at(output, dim, index, 0)] as const);
  const here = lookSoft(inputs.query, inputs).output[0] ?? NaN;
  return [
    {
      id: "nudge",
      title: lookupTerms.answerByQuery,
      x: { label: lookupTerms.firstOfQuery },
      y: { label: lookupTerms.firstOfAnswer },
      series: [
        {
          name: lookupTerms.hardLookup,
          line: "dashed",
          stepped: true,
          tone: 1,
          points: first(lookHard(queries, inputs).output),
        },
        { name: lookupTerms.softLookup, line: "solid", points: first(lookSoft(queries, inputs).output) },
        { name: lookupTerms.yourQuery, mark: "circle", points: [[inputs.query[0] ?? 0, here]] },
      ],
    },
  ];
}
