import {
  cost,
  GroupedQueryAttention,
  MultiHeadAttention,
  type MultiHeadStep,
  randomNormal,
  type Tensor,
} from "softlookup";
import { explanations } from "../content/explanations.ts";
import { headsTerms } from "../content/heads.ts";
import { labels } from "../content/labels.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { withEdit } from "../state/fields/leak.ts";
import { headCounts, headsDims, headsRanges, shapeDims } from "../state/fields/heads.ts";
import type { HeadShapes } from "../jobs/head-shapes.ts";
import type { Inputs } from "../state/inputs.ts";
import type { Control } from "./controls.ts";
import { equals, gap, given, minus, number, productSum, symbol, text, words } from "./explain.ts";
import {
  at,
  type Explanation,
  type Figure,
  firstCell,
  type Grid,
  indices,
  numerals,
  passes,
  type Role,
  symbols,
  type Symbol,
  transposed,
} from "./figure.ts";
import type { Change } from "./typed.ts";
import { block, difference, drawnMatrix, stacked, withLayer } from "./layers.ts";
import { count, type Listing, textEntry } from "./listing.ts";
import { keys, outputs, queries, weightsGrid } from "./passes.ts";

/** The layer's matrices, each [d, d] as the package takes them: row c makes component c. */
interface Matrices {
  query: Tensor;
  key: Tensor;
  value: Tensor;
  output: Tensor;
}

function matricesOf({ headsDim, headsSeed }: Inputs): Matrices {
  const drawn = (nth: number) => drawnMatrix(headsDim, headsDim, headsSeed + nth);
  return { query: drawn(1), key: drawn(2), value: drawn(3), output: drawn(4) };
}

/** X [n, d]: drawn, with what was typed over. */
function tokensOf({ headsLength, headsDim, headsSeed, headsTokens }: Inputs): number[] {
  const drawn = [...randomNormal([headsLength, headsDim], headsSeed).data];
  return headsTokens.reduce((data, { row, col, value }) => data.with(row * headsDim + col, value), drawn);
}

/** X and the matrices, as a program starts from them. */
export const headsInputs = (inputs: Inputs) => ({ x: tokensOf(inputs), matrices: matricesOf(inputs) });

const widthOf = (inputs: Inputs) => inputs.headsDim / inputs.headsCount;

function layer(
  { headsDim, headsCount }: Inputs,
  { query, key, value, output }: Matrices,
): MultiHeadAttention {
  const made = new MultiHeadAttention({ embedDim: headsDim, numHeads: headsCount, bias: false });
  made.loadStateDict({ in_proj_weight: stacked(query, key, value), "out_proj.weight": output });
  return made;
}

type Passes = Readonly<Record<MultiHeadStep, Float32Array>>;

function run(inputs: Inputs, matrices: Matrices): Passes {
  const x = { data: tokensOf(inputs), shape: [inputs.headsLength, inputs.headsDim] };
  return withLayer(layer(inputs, matrices), (made) => passes(made.trace(x, x, x)));
}

/** Columns under the head that they belong to. */
function headColumns({ headsCount, headsDim }: Inputs): Symbol[] {
  const width = headsDim / headsCount;
  return indices(headsDim).map((col) => ({ name: "H", index: Math.floor(col / width) }));
}

/** [n, d] with a seam between heads. */
function wide(
  inputs: Inputs,
  names: Pick<Grid, "id" | "label">,
  data: ArrayLike<number>,
): Omit<Grid, "explain"> {
  return {
    ...names,
    data,
    rows: symbols("x", inputs.headsLength),
    cols: headColumns(inputs),
    role: "plain",
    scale: "signed",
    group: widthOf(inputs),
  };
}

function tokensGrid(inputs: Inputs, change: Change): Grid {
  const { headsDim, headsLength, headsTokens } = inputs;
  const data = tokensOf(inputs);
  const stored = Float32Array.from(data);
  return {
    id: "tokens",
    label: labels.tokens,
    data,
    rows: symbols("x", headsLength),
    cols: numerals(headsDim),
    role: "plain",
    scale: "signed",
    type: {
      write: (row, col, value) => {
        change(
          { headsTokens: withEdit(headsTokens, { row, col, value }) },
          `headsTokens.${String(row)}.${String(col)}`,
        );
      },
    },
    explain(row, col) {
      const exact = at(stored, headsDim, row, col);
      return {
        segments: given(
          symbol("x", `${String(row)},${String(col)}`),
          exact,
          "plain",
          words(explanations.token, { i: row, j: col }),
        ),
        exact,
        lights: [],
      };
    },
  };
}

/** Cell (i, c) of x wᵀ for w [out, in], written out. */
function projection(
  x: ArrayLike<number>,
  weight: Tensor,
  result: ArrayLike<number>,
  names: { x: string; weight: string; role: Role },
) {
  const [out = 0, width = 0] = weight.shape;
  return (row: number, col: number): Explanation => {
    const exact = at(result, out, row, col);
    const pairs = indices(width).map(
      (e) =>
        [
          { value: at(x, width, row, e), role: "plain" },
          { value: at(weight.data, width, col, e), role: names.role },
        ] as const,
    );
    return {
      segments: [...productSum(pairs), ...equals(exact, names.role)],
      exact,
      lights: [
        { grid: names.x, row },
        { grid: names.weight, col },
      ],
    };
  };
}

/** W [out, in] as it stands in a formula, [in, out], its columns grouped by head. */
function weightMatrix(
  inputs: Inputs,
  names: Pick<Grid, "id" | "label" | "role">,
  weight: Tensor,
  cols: readonly Symbol[],
): Grid {
  const { headsDim } = inputs;
  const data = transposed(weight.data, headsDim, headsDim);
  return {
    ...names,
    data,
    rows: numerals(headsDim),
    cols,
    scale: "signed",
    explain(row, col) {
      const exact = at(data, headsDim, row, col);
      return {
        segments: [number(exact, names.role), gap, words(headsTerms.drawnWeight)],
        exact,
        lights: [],
      };
    },
  };
}

function projectFigure(inputs: Inputs, change: Change): Figure {
  const matrices = matricesOf(inputs);
  const { query } = run(inputs, matrices);
  const cols = headColumns(inputs);
  const group = widthOf(inputs);
  const x = Float32Array.from(tokensOf(inputs));
  return {
    layout: "product",
    grids: [
      tokensGrid(inputs, change),
      {
        ...weightMatrix(inputs, { id: "weight", label: labels.wq, role: "query" }, matrices.query, cols),
        group,
      },
      {
        ...wide(inputs, { id: "query", label: labels.q }, query),
        rows: queries(inputs.headsLength),
        role: "query",
        explain: projection(x, matrices.query, query, { x: "tokens", weight: "weight", role: "query" }),
      },
    ],
    start: firstCell("query"),
  };
}

/** The heads of [H, n, width] one by one. */
function headGrids(
  inputs: Inputs,
  id: string,
  data: Float32Array,
  like: Pick<Grid, "rows" | "role">,
  explain: (head: number) => Grid["explain"],
): Grid[] {
  const width = widthOf(inputs);
  return indices(inputs.headsCount).map((head) => ({
    id: `${id}${String(head)}`,
    label: headsTerms.headNumber,
    labelValues: { h: head },
    data: block(data, inputs.headsLength * width, head),
    cols: numerals(width),
    scale: "signed",
    ...like,
    explain: explain(head),
  }));
}

function splitFigure(inputs: Inputs): Figure {
  const { headsDim, headsLength } = inputs;
  const width = widthOf(inputs);
  const { query, queryHeads } = run(inputs, matricesOf(inputs));
  const whole: Grid = {
    ...wide(inputs, { id: "query", label: labels.q }, query),
    rows: queries(headsLength),
    role: "query",
    explain(row, col) {
      const head = Math.floor(col / width);
      const exact = at(query, headsDim, row, col);
      return {
        segments: [
          number(exact, "query"),
          gap,
          words(headsTerms.goesToHead, { h: head, j: col - head * width }),
        ],
        exact,
        lights: [{ grid: `head${String(head)}`, row, col: col - head * width }],
      };
    },
  };
  const heads = headGrids(
    inputs,
    "head",
    queryHeads,
    { rows: queries(headsLength), role: "query" },
    (head) => (row, col) => {
      const exact = at(block(queryHeads, headsLength * width, head), width, row, col);
      return {
        segments: [number(exact, "query"), gap, words(explanations.fromColumn, { j: head * width + col })],
        exact,
        lights: [{ grid: "query", row, col: head * width + col }],
      };
    },
  );
  return {
    layout: "flow",
    grids: [whole, ...heads.map((grid, head) => (head === 0 ? { ...grid, sign: "→" as const } : grid))],
    start: firstCell("head0"),
  };
}

function attendFigure(inputs: Inputs): Figure {
  const { headsLength, headsCount } = inputs;
  const pass = run(inputs, matricesOf(inputs));
  const square = headsLength * headsLength;
  return {
    layout: "flow",
    grids: indices(headsCount).map((head) => ({
      ...weightsGrid(
        { data: block(pass.weights, square, head), rows: queries(headsLength), cols: keys(headsLength) },
        block(pass.exp, square, head),
        block(pass.rowSum, headsLength, head),
      ),
      id: `weights${String(head)}`,
      label: headsTerms.headNumber,
      labelValues: { h: head },
    })),
    start: firstCell("weights0"),
  };
}

/** What head h makes of its weights and its piece of V, cell by cell. */
function blended(inputs: Inputs, pass: Passes) {
  const { headsLength } = inputs;
  const width = widthOf(inputs);
  return (head: number) =>
    (row: number, col: number): Explanation => {
      const weights = block(pass.weights, headsLength * headsLength, head);
      const values = block(pass.valueHeads, headsLength * width, head);
      const exact = at(block(pass.heads, headsLength * width, head), width, row, col);
      const pairs = indices(headsLength).map(
        (key) =>
          [
            { value: at(weights, headsLength, row, key), role: "weight" },
            { value: at(values, width, key, col), role: "value" },
          ] as const,
      );
      return {
        segments: [...productSum(pairs), ...equals(exact)],
        exact,
        lights: [{ grid: "merged", row, col: head * width + col }],
      };
    };
}

/** The heads side by side, each cell pointing at the head that it came from. */
function mergedGrid(inputs: Inputs, merged: ArrayLike<number>): Grid {
  const width = widthOf(inputs);
  return {
    ...wide(inputs, { id: "merged", label: labels.merged }, merged),
    rows: outputs(inputs.headsLength),
    explain(row, col) {
      const head = Math.floor(col / width);
      const exact = at(merged, inputs.headsDim, row, col);
      return {
        segments: [number(exact), gap, words(explanations.ofHead, { h: head, j: col - head * width })],
        exact,
        lights: [{ grid: `head${String(head)}`, row, col: col - head * width }],
      };
    },
  };
}

function concatFigure(inputs: Inputs): Figure {
  const pass = run(inputs, matricesOf(inputs));
  const heads = headGrids(
    inputs,
    "head",
    pass.heads,
    { rows: outputs(inputs.headsLength), role: "plain" },
    blended(inputs, pass),
  );
  return {
    layout: "flow",
    grids: [...heads, { ...mergedGrid(inputs, pass.merged), sign: "→" }],
    start: firstCell("merged"),
  };
}

function outputGrid(
  inputs: Inputs,
  names: Pick<Grid, "id" | "label">,
  data: ArrayLike<number>,
): Omit<Grid, "explain"> {
  return {
    ...names,
    data,
    rows: outputs(inputs.headsLength),
    cols: numerals(inputs.headsDim),
    role: "plain",
    scale: "signed",
  };
}

function mixFigure(inputs: Inputs): Figure {
  const matrices = matricesOf(inputs);
  const { merged, output } = run(inputs, matrices);
  const cols = numerals(inputs.headsDim);
  const weight = weightMatrix(
    inputs,
    { id: "weight", label: headsTerms.wo, role: "plain" },
    matrices.output,
    cols,
  );
  return {
    layout: "product",
    grids: [
      mergedGrid(inputs, merged),
      // Here the rows belong to heads.
      { ...weight, rows: headColumns(inputs) },
      {
        ...outputGrid(inputs, { id: "output", label: labels.output }, output),
        explain: projection(merged, matrices.output, output, {
          x: "merged",
          weight: "weight",
          role: "plain",
        }),
      },
    ],
    start: firstCell("output"),
  };
}

/** The value matrix with the rows of one head cleared: that head has nothing to hand over. */
function silenced(value: Tensor, head: number, width: number): Tensor {
  const [, columns = 0] = value.shape;
  const data = value.data.slice().fill(0, head * width * columns, (head + 1) * width * columns);
  return { ...value, data };
}

function silenceFigure(inputs: Inputs): Figure {
  const { headsDim, headsSilent } = inputs;
  const matrices = matricesOf(inputs);
  const before = run(inputs, matrices);
  const after = run(inputs, {
    ...matrices,
    value: silenced(matrices.value, headsSilent, widthOf(inputs)),
  });
  const compared = (
    id: string,
    label: Grid["label"],
    layout: Omit<Grid, "explain">,
    pass: "merged" | "output",
  ) => {
    const explain =
      (data: ArrayLike<number>, other: string) =>
      (row: number, col: number): Explanation => {
        const exact = at(data, headsDim, row, col);
        const was = at(before[pass], headsDim, row, col);
        const same = Object.is(was, at(after[pass], headsDim, row, col));
        return {
          segments: same
            ? [number(exact), gap, words(explanations.unmoved)]
            : [
                words(explanations.was),
                text(" "),
                number(was),
                text(" → "),
                number(at(after[pass], headsDim, row, col)),
              ],
          exact,
          lights: [{ grid: other, row, col }],
        };
      };
    return [
      { ...layout, id, label, data: before[pass], explain: explain(before[pass], `${id}Silent`) },
      {
        ...layout,
        id: `${id}Silent`,
        label: headsTerms.headSilent,
        labelValues: { h: headsSilent },
        data: after[pass],
        sign: "→",
        moved: (row, col) =>
          Object.is(at(before[pass], headsDim, row, col), at(after[pass], headsDim, row, col))
            ? undefined
            : "moved",
        explain: explain(after[pass], id),
      },
    ] as const satisfies readonly Grid[];
  };
  return {
    layout: "pairs",
    grids: [
      ...compared("merged", headsTerms.withoutMix, mergedGrid(inputs, before.merged), "merged"),
      ...compared(
        "output",
        headsTerms.withMix,
        outputGrid(inputs, { id: "", label: labels.output }, before.output),
        "output",
      ),
    ],
    start: firstCell("outputSilent"),
  };
}

function loopFigure(inputs: Inputs): Figure {
  const { headsLength, headsDim } = inputs;
  const x = { data: tokensOf(inputs), shape: [headsLength, headsDim] };
  const [large, small] = withLayer(layer(inputs, matricesOf(inputs)), (made) => [
    made.forward(x, x, x).output.data,
    made.forward(x, x, x, { headByHead: true }).output.data,
  ]) as [Float32Array, Float32Array];
  const apart = difference(large, small);
  const shown = (id: string, label: Grid["label"], data: ArrayLike<number>): Grid => ({
    ...outputGrid(inputs, { id, label }, data),
    explain(row, col) {
      const exact = at(data, headsDim, row, col);
      const [one, other] = [at(large, headsDim, row, col), at(small, headsDim, row, col)];
      return {
        segments: id === "difference" ? minus(one, other, exact) : [number(exact)],
        exact,
        lights: [
          { grid: "large", row, col },
          { grid: "small", row, col },
          { grid: "difference", row, col },
        ],
      };
    },
  });
  return {
    layout: "flow",
    grids: [
      shown("large", headsTerms.threeLarge, large),
      { ...shown("small", headsTerms.manySmall, small), sign: "−" },
      { ...shown("difference", labels.difference, apart), sign: "=" },
    ],
    start: firstCell("difference"),
  };
}

/** Merged by swapping axes first, and by reading the memory on as it lies. */
function viewFigure(inputs: Inputs): Figure {
  const { headsLength, headsDim } = inputs;
  const width = widthOf(inputs);
  const pass = run(inputs, matricesOf(inputs));
  const { heads, merged: right } = pass;
  /** The head and token whose number lies at a place in memory. */
  const origin = (place: number) => ({
    h: Math.floor(place / (headsLength * width)),
    i: Math.floor(place / width) % headsLength,
  });
  const wrong: Grid = {
    ...wide(inputs, { id: "wrong", label: headsTerms.viewAlone }, heads),
    rows: outputs(headsLength),
    moved: (row, col) =>
      Object.is(at(heads, headsDim, row, col), at(right, headsDim, row, col)) ? undefined : "wrong",
    explain(row, col) {
      const exact = at(heads, headsDim, row, col);
      const [came, belongs] = [origin(row * headsDim + col), { h: Math.floor(col / width), i: row }];
      const isInPlace = came.h === belongs.h && came.i === belongs.i;
      return {
        segments: [
          number(exact),
          text(" "),
          ...(isInPlace
            ? [words(headsTerms.inPlace, belongs)]
            : [
                words(headsTerms.comesFrom, { from: came.h, of: came.i, ...belongs }),
                text(" "),
                number(at(right, headsDim, row, col)),
              ]),
        ],
        exact,
        lights: [{ grid: "merged", row, col }],
      };
    },
  };
  const separate = headGrids(
    inputs,
    "head",
    heads,
    { rows: outputs(headsLength), role: "plain" },
    blended(inputs, pass),
  );
  return {
    layout: "flow",
    grids: [...separate, { ...mergedGrid(inputs, right), label: headsTerms.swapped, sign: "→" }, wrong],
    start: firstCell("wrong"),
  };
}

export function headsFigure(step: string, inputs: Inputs, change: Change): Figure | undefined {
  switch (step) {
    case "project":
      return projectFigure(inputs, change);
    case "split":
      return splitFigure(inputs);
    case "attend":
      return attendFigure(inputs);
    case "concat":
      return concatFigure(inputs);
    case "mix":
      return mixFigure(inputs);
    case "silence":
      return silenceFigure(inputs);
    case "loop":
      return loopFigure(inputs);
    case "view":
      return viewFigure(inputs);
    default:
      return undefined;
  }
}

/** The passes of the mnemonic, the lines that name them, and the shapes of a real run. */
export function shapesListing(shapes: HeadShapes): Listing {
  const line = (what: Text, how: Text, names: Text, shape: readonly number[]) => [
    textEntry(what),
    textEntry(names),
    { kind: "shape", shape } as const,
    textEntry(how),
  ];
  return {
    id: "shapes",
    columns: [headsTerms.what, headsTerms.inLetters, headsTerms.inNumbers, headsTerms.how],
    rows: [
      line(labels.tokens, headsTerms.given, headsTerms.wide, shapes.x),
      line(headsTerms.qkv, headsTerms.projected, headsTerms.wide, shapes.query),
      line(headsTerms.qkvCut, headsTerms.cutUp, headsTerms.cut, shapes.queryHeads),
      line(labels.scores, headsTerms.scored, headsTerms.square, shapes.scores),
      line(headsTerms.softmax, headsTerms.shared, headsTerms.square, shapes.weights),
      line(headsTerms.timesV, headsTerms.blended, headsTerms.cut, shapes.heads),
      line(labels.merged, headsTerms.mergedHow, headsTerms.wide, shapes.merged),
      line(headsTerms.timesWo, headsTerms.mixed, headsTerms.wide, shapes.output),
    ],
  };
}

/** Sizes of the chapter's question, GPT-2's, and last the reader's own. */
export const parameterSizes = ({
  shapeDim,
  shapeHeads,
}: Inputs): readonly (readonly [modelDim: number, numHeads: number])[] => [
  [512, 8],
  [512, 64],
  [768, 12],
  [shapeDim, shapeHeads],
];

function parametersListing(inputs: Inputs): Listing {
  const sizes = parameterSizes(inputs);
  return {
    id: "parameters",
    columns: [
      headsTerms.sizes,
      headsTerms.headDim,
      labels.wq,
      labels.wk,
      labels.wv,
      headsTerms.wo,
      headsTerms.total,
      headsTerms.counted,
    ],
    rows: sizes.map(([modelDim, numHeads], nth) => {
      const own = nth === sizes.length - 1;
      const { query, key, value, output, total } = cost.parameters({ modelDim, numHeads });
      const counted = withLayer(
        new MultiHeadAttention({ embedDim: modelDim, numHeads, bias: false }),
        ({ parameterCount }) => parameterCount,
      );
      const width = withLayer(
        new GroupedQueryAttention({ hiddenSize: modelDim, numHeads }),
        ({ headDim }) => headDim,
      );
      return [
        textEntry(own ? headsTerms.yours : headsTerms.pair, { d: modelDim, H: numHeads }),
        ...[width, query, key, value, output, total, counted].map(count),
      ];
    }),
  };
}

export function headsListing(step: string, inputs: Inputs): Listing | undefined {
  return step === "parameters" ? parametersListing(inputs) : undefined;
}

function shapeControls({ shapeDim }: Inputs): readonly Control[] {
  return [
    { kind: "steps", key: "shapeDim", label: ui.modelDim, values: shapeDims },
    { kind: "steps", key: "shapeHeads", label: ui.headCount, values: headCounts(shapeDim) },
  ];
}

export function headsControls(step: string, inputs: Inputs): readonly Control[] {
  switch (step) {
    case "shapes":
      return [
        { kind: "slider", key: "shapeBatch", label: ui.batch, range: headsRanges.shapeBatch },
        { kind: "slider", key: "shapeLength", label: ui.length, range: headsRanges.shapeLength },
        ...shapeControls(inputs),
      ];
    case "parameters":
      return shapeControls(inputs);
    default:
      return [
        { kind: "slider", key: "headsLength", label: ui.length, range: headsRanges.headsLength },
        { kind: "steps", key: "headsDim", label: ui.modelDim, values: headsDims },
        { kind: "steps", key: "headsCount", label: ui.headCount, values: headCounts(inputs.headsDim) },
        ...(step === "silence"
          ? [
              {
                kind: "slider",
                key: "headsSilent",
                label: headsTerms.silent,
                range: [0, inputs.headsCount - 1],
              } as const,
            ]
          : []),
        {
          kind: "number",
          key: "headsSeed",
          label: ui.seed,
          range: headsRanges.headsSeed,
          resets: { headsTokens: [] },
        },
      ];
  }
}
