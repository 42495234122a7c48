import { repeatKv, rope, ropeTable, scaledDotProductAttention, type Tensor } from "softlookup";
import { explanations } from "../content/explanations.ts";
import { labels } from "../content/labels.ts";
import { minimindLabels } from "../content/minimind.ts";
import type { Text } from "../content/text.ts";
import { withEdit } from "../state/fields/leak.ts";
import { isTyped } from "../state/fields/minimind.ts";
import type { Inputs } from "../state/inputs.ts";
import { equals, gap, given, longProductSum, minus, number, space, symbol, text, words } from "./explain.ts";
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
  type Symbol,
  symbols,
} from "./figure.ts";
import type { Change } from "./typed.ts";
import { block, difference, projected } from "./layers.ts";
import { headOf, inputOf, type Walk, walk, walkCached, withAttention, sizesOf } from "./minimind.ts";
import {
  expGrid,
  keys,
  outputExplanation,
  outputs,
  queries,
  rowSumGrid,
  totalGrid,
  weightsGrid,
} from "./passes.ts";

type Cells = (row: number, col: number) => Explanation;

interface Numbers {
  id: string;
  label: Text;
  labelValues?: Readonly<Record<string, number>>;
  data: ArrayLike<number>;
  rows: readonly Symbol[];
  cols: readonly Symbol[];
  role?: Role;
}

function grid({ role = "plain", ...names }: Numbers, explain: Cells): Grid {
  return { ...names, role, scale: "signed", explain };
}

/** What is there, and where it came from, without arithmetic. */
const handedOn =
  (
    data: ArrayLike<number>,
    cols: number,
    role: Role,
    note: Text,
    from: (row: number, col: number) => Explanation["lights"],
  ): Cells =>
  (row, col) => {
    const exact = at(data, cols, row, col);
    return { segments: [number(exact, role), gap, words(note)], exact, lights: from(row, col) };
  };

const rows = { query: queries, key: keys, value: (count: number) => symbols("v", count, "value") };
type Kind = keyof typeof rows;

const projections = {
  query: {
    pass: "q_proj",
    weight: "q_proj.weight",
    label: minimindLabels.qProj,
    heads: "mmHeads",
    letter: "H",
  },
  key: {
    pass: "k_proj",
    weight: "k_proj.weight",
    label: minimindLabels.kProj,
    heads: "mmKvHeads",
    letter: "G",
  },
  value: {
    pass: "v_proj",
    weight: "v_proj.weight",
    label: minimindLabels.vProj,
    heads: "mmKvHeads",
    letter: "G",
  },
} as const;
const kinds = Object.keys(projections) as Kind[];

/** Columns under the head that they belong to: H of queries, G of keys and values. */
const headColumns = (heads: number, width: number, letter: string): Symbol[] =>
  indices(heads * width).map((col) => ({ name: letter, index: Math.floor(col / width) }));

function xGrid(inputs: Inputs, change?: Change): Grid {
  const { mmLength, mmHidden, mmTokens } = inputs;
  const data = [...inputOf(inputs).data.subarray(0, mmLength * mmHidden)];
  return {
    ...grid(
      {
        id: "x",
        label: minimindLabels.xHidden,
        data,
        rows: symbols("x", mmLength),
        cols: numerals(mmHidden),
      },
      (row, col) => {
        const exact = Math.fround(at(data, mmHidden, row, col));
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
    ),
    ...(change &&
      isTyped(mmHidden) && {
        type: {
          write: (row: number, col: number, value: number) => {
            const edit = { mmTokens: withEdit(mmTokens, { row, col, value }) };
            change(edit, `mmTokens.${String(row)}.${String(col)}`);
          },
        },
      }),
  };
}

/** q_proj(x), k_proj(x) or v_proj(x) of the first sequence, its heads side by side. */
function projectionGrid(kind: Kind, inputs: Inputs, { pass, parameters, x, headDim }: Walk): Grid {
  const { pass: id, weight, label, heads, letter } = projections[kind];
  const { mmLength, mmHidden } = inputs;
  const cols = headColumns(inputs[heads], headDim, letter);
  const data = block(pass[id], mmLength * cols.length, 0);
  const explain: Cells = (row, col) => {
    const exact = at(data, cols.length, row, col);
    const pairs = indices(mmHidden).map(
      (e) =>
        [
          { value: at(x.data, mmHidden, row, e), role: "plain" },
          { value: at(parameters[weight].data, mmHidden, col, e), role: kind },
        ] as const,
    );
    return {
      segments: [...longProductSum(pairs), ...equals(exact, kind)],
      exact,
      lights: [{ grid: "x", row }],
    };
  };
  return {
    ...grid({ id, label, data, rows: rows[kind](mmLength), cols, role: kind }, explain),
    group: headDim,
  };
}

/** The numbers that one head of q, k or v holds after a pass. */
function headData(
  kind: Kind,
  id: "xq" | "xk" | "xv" | "q_norm" | "k_norm" | "q_rope" | "k_rope",
  inputs: Inputs,
  { pass, headDim, kvHead }: Walk,
) {
  const query = kind === "query";
  return headOf(
    pass[id],
    inputs.mmLength,
    query ? inputs.mmHeads : inputs.mmKvHeads,
    headDim,
    query ? inputs.mmHead : kvHead,
  );
}

const shownHead = (kind: Kind, { mmHead }: Inputs, { kvHead }: Walk) => ({
  h: kind === "query" ? mmHead : kvHead,
});

function viewFigure(inputs: Inputs): Figure {
  const run = walk(inputs);
  const { headDim } = run;
  const shown = {
    query: ["xq", minimindLabels.xq],
    key: ["xk", minimindLabels.xk],
    value: ["xv", minimindLabels.xv],
  } as const;
  return {
    layout: "pairs",
    grids: kinds.flatMap((kind) => {
      const [id, label] = shown[kind];
      const labelValues = shownHead(kind, inputs, run);
      const whole = projectionGrid(kind, inputs, run);
      const data = headData(kind, id, inputs, run);
      const column = (col: number) => labelValues.h * headDim + col;
      const explain: Cells = (row, col) => ({
        segments: [
          number(at(data, headDim, row, col), kind),
          gap,
          words(explanations.fromColumn, { j: column(col) }),
        ],
        exact: at(data, headDim, row, col),
        lights: [{ grid: whole.id, row, col: column(col) }],
      });
      const head = grid(
        {
          id,
          label,
          labelValues,
          data,
          rows: rows[kind](inputs.mmLength),
          cols: numerals(headDim),
          role: kind,
        },
        explain,
      );
      return [whole, { ...head, sign: "→" as const }];
    }),
    start: firstCell("xq"),
  };
}

const normed = {
  query: {
    before: "xq",
    id: "q_norm",
    from: minimindLabels.xq,
    label: minimindLabels.qNorm,
    weight: "q_norm.weight",
  },
  key: {
    before: "xk",
    id: "k_norm",
    from: minimindLabels.xk,
    label: minimindLabels.kNorm,
    weight: "k_norm.weight",
  },
} as const;
const turned = {
  query: { id: "q_rope", label: minimindLabels.qRope },
  key: { id: "k_rope", label: minimindLabels.kRope },
} as const;

/** One head after the norm. */
function normGrid(kind: "query" | "key", inputs: Inputs, run: Walk): Grid {
  const { headDim, parameters } = run;
  const { before, id, label, weight } = normed[kind];
  const [from, data] = [headData(kind, before, inputs, run), headData(kind, id, inputs, run)];
  const rowOf = (row: number): Tensor => ({ data: block(from, headDim, row), shape: [1, headDim] });
  return grid(
    {
      id,
      label,
      labelValues: shownHead(kind, inputs, run),
      data,
      rows: rows[kind](inputs.mmLength),
      cols: numerals(headDim),
      role: kind,
    },
    (row, col) => {
      const exact = at(data, headDim, row, col);
      // A row's scalar product with itself.
      const [squares = NaN] = projected(rowOf(row), rowOf(row)).data;
      return {
        segments: [
          number(at(from, headDim, row, col), kind),
          text(" ÷ √("),
          number(squares),
          text(" ÷ "),
          number(headDim),
          text(" + 10⁻⁶) × "),
          number(parameters[weight].data[col] ?? NaN),
          ...equals(exact, kind),
        ],
        exact,
        lights: [{ grid: before, row }],
      };
    },
  );
}

function headGrid(kind: Kind, id: "xq" | "xk" | "xv", label: Text, inputs: Inputs, run: Walk): Grid {
  const { headDim } = run;
  const data = headData(kind, id, inputs, run);
  return grid(
    {
      id,
      label,
      labelValues: shownHead(kind, inputs, run),
      data,
      rows: rows[kind](inputs.mmLength),
      cols: numerals(headDim),
      role: kind,
    },
    handedOn(
      data,
      headDim,
      kind,
      kind === "value" ? minimindLabels.notTurned : minimindLabels.projectedNumber,
      () => [],
    ),
  );
}

function normFigure(inputs: Inputs): Figure {
  const run = walk(inputs);
  return {
    layout: "pairs",
    grids: (["query", "key"] as const).flatMap((kind) => [
      headGrid(kind, normed[kind].before, normed[kind].from, inputs, run),
      { ...normGrid(kind, inputs, run), sign: "→" as const },
    ]),
    start: firstCell("q_norm"),
  };
}

/** The column that turns together with this one, and whether it is the first of the pair. */
export function partnerOf(col: number, width: number, layout: "half" | "interleaved") {
  const half = width / 2;
  const isFirst = layout === "half" ? col < half : col % 2 === 0;
  const step = layout === "half" ? half : 1;
  const pair = layout === "half" ? col % half : Math.floor(col / 2);
  return { partner: isFirst ? col + step : col - step, isFirst, pair };
}

/** (a, b) → (a cos − b sin, b cos + a sin), the numbers being the core's. */
function turnExplanation(
  before: ArrayLike<number>,
  after: ArrayLike<number>,
  width: number,
  role: Role,
  { theta, layout, from }: { theta: number; layout: "half" | "interleaved"; from: string },
  positionOf: (row: number) => number,
): Cells {
  return (row, col) => {
    const { partner, isFirst, pair } = partnerOf(col, width, layout);
    const table = ropeTable({ positions: [positionOf(row)], dims: width, theta });
    const exact = at(after, width, row, col);
    return {
      segments: [
        number(at(before, width, row, col), role),
        text(" × "),
        number(table.cos.data[pair] ?? NaN, "plain", true),
        text(isFirst ? " − " : " + "),
        number(at(before, width, row, partner), role, true),
        text(" × "),
        number(table.sin.data[pair] ?? NaN, "plain", true),
        ...equals(exact, role),
      ],
      exact,
      lights: [
        { grid: from, row, col },
        { grid: from, row, col: partner },
      ],
    };
  };
}

function ropeFigure(inputs: Inputs): Figure {
  const run = walk(inputs);
  const { headDim } = run;
  const pairs = (["query", "key"] as const).flatMap((kind) => {
    const before = normGrid(kind, inputs, run);
    const { id, label } = turned[kind];
    const data = headData(kind, id, inputs, run);
    const names = { ...before, id, label, data };
    const options = { theta: inputs.mmTheta, layout: "half", from: before.id } as const;
    const explain = turnExplanation(before.data, data, headDim, kind, options, (row) => row);
    return [before, { ...grid(names, explain), sign: "→" as const }];
  });
  return {
    layout: "pairs",
    grids: [...pairs, headGrid("value", "xv", minimindLabels.xvUnturned, inputs, run)],
    start: { grid: "q_rope", row: 1, col: 0 },
  };
}

/** One query vector before RoPE, and turned in either pairing. */
export function turns(inputs: Inputs) {
  const run = walk(inputs);
  const { headDim } = run;
  const before = block(headData("query", "q_norm", inputs, run), headDim, inputs.mmPosition);
  const turn = (layout: "half" | "interleaved") =>
    rope(
      { data: before, shape: [1, headDim] },
      { layout, theta: inputs.mmTheta, positions: [inputs.mmPosition] },
    ).data;
  return { headDim, before, half: turn("half"), interleaved: turn("interleaved") };
}

function pairingsFigure(inputs: Inputs): Figure {
  const { headDim, before, half, interleaved } = turns(inputs);
  const names = {
    rows: [{ name: "q", index: inputs.mmPosition, role: "query" as const }],
    cols: numerals(headDim),
    role: "query" as const,
  };
  const after = (layout: "half" | "interleaved", label: Text, data: Float32Array): Grid => {
    const options = { theta: inputs.mmTheta, layout, from: "before" };
    const explain = turnExplanation(before, data, headDim, "query", options, () => inputs.mmPosition);
    return grid({ id: layout, label, data, ...names }, explain);
  };
  return {
    layout: "stack",
    grids: [
      grid(
        { id: "before", label: minimindLabels.beforeTurn, data: before, ...names },
        handedOn(before, headDim, "query", minimindLabels.projectedNumber, () => []),
      ),
      after("half", minimindLabels.halfSplit, half),
      after("interleaved", minimindLabels.interleaved, interleaved),
    ],
    start: firstCell("half"),
  };
}

/** The same q and the same k at every position: what is left of a score is the distance. */
function distanceFigure(inputs: Inputs): Figure {
  const { mmLength, mmPosition, mmStart, mmTheta } = inputs;
  const run = walk(inputs);
  const { headDim } = run;
  const repeated = (kind: "query" | "key") => {
    const one = block(headData(kind, normed[kind].id, inputs, run), headDim, mmPosition);
    return { data: Float32Array.from(indices(mmLength).flatMap(() => [...one])), shape: [mmLength, headDim] };
  };
  const [q, k] = [repeated("query"), repeated("key")];
  const scoresFrom = (first: number) => {
    const options = { layout: "half", theta: mmTheta, positions: first } as const;
    return passes(scaledDotProductAttention.trace(rope(q, options), rope(k, options), k)).scores;
  };
  const [near, far] = [scoresFrom(0), scoresFrom(mmStart)];
  const at0 = (name: string, role: Role, first: number) =>
    indices(mmLength).map((index) => ({ name, index: first + index, role }));
  const diagonal = (id: string, row: number, col: number) =>
    indices(mmLength).flatMap((other) => {
      const across = other - row + col;
      return across >= 0 && across < mmLength ? [{ grid: id, row: other, col: across }] : [];
    });
  const scores = (id: string, label: Text, data: Float32Array, first: number): Grid =>
    grid({ id, label, data, rows: at0("q", "query", first), cols: at0("k", "key", first) }, (row, col) => ({
      segments: [
        words(minimindLabels.distance, { i: first + row, j: first + col }),
        space,
        number(at(data, mmLength, row, col)),
      ],
      exact: at(data, mmLength, row, col),
      lights: [...diagonal("near", row, col), ...diagonal("far", row, col)],
    }));
  return {
    layout: "flow",
    grids: [
      scores("near", minimindLabels.fromZero, near, 0),
      { ...scores("far", minimindLabels.fromStart, far, mmStart), labelValues: { s: mmStart }, sign: "−" },
      {
        ...differenceGrid(near, far, mmLength, ["near", "far"], keys(mmLength), queries(mmLength)),
        sign: "=",
      },
    ],
    start: { grid: "far", row: mmLength - 1, col: 0 },
  };
}

function differenceGrid(
  one: ArrayLike<number>,
  other: ArrayLike<number>,
  width: number,
  [first, second]: readonly [string, string],
  cols: readonly Symbol[],
  lines: readonly Symbol[],
): Grid {
  const apart = difference(one, other);
  return grid({ id: "difference", label: labels.difference, data: apart, rows: lines, cols }, (row, col) => {
    const exact = at(apart, width, row, col);
    return {
      segments: minus(at(one, width, row, col), at(other, width, row, col), exact),
      exact,
      lights: [
        { grid: first, row, col },
        { grid: second, row, col },
      ],
    };
  });
}

function cacheFigure(inputs: Inputs): Figure {
  const { mmLength, mmHidden, mmKvHeads, mmPast } = inputs;
  const whole = walk(inputs);
  const { headDim, kvHead } = whole;
  const { pass } = walkCached(inputs);
  const fresh = mmLength - mmPast;
  const lines = indices(fresh).map((index) => ({ name: "o", index: mmPast + index }));
  const outputsOf = (id: string, label: Text, data: ArrayLike<number>, other: string): Grid =>
    grid(
      { id, label, data, rows: lines, cols: numerals(mmHidden) },
      handedOn(data, mmHidden, "plain", minimindLabels.outputNumber, (row, col) => [
        { grid: other, row, col },
      ]),
    );
  const past = (kind: "key" | "value", id: "past_k" | "past_v", label: Text): Grid => {
    const data = headOf(pass[id], mmLength, mmKvHeads, headDim, kvHead);
    return {
      ...grid(
        {
          id,
          label,
          labelValues: { h: kvHead },
          data,
          rows: rows[kind](mmLength),
          cols: numerals(headDim),
          role: kind,
        },
        (row, col) => ({
          segments: [
            number(at(data, headDim, row, col), kind),
            gap,
            words(row < mmPast ? minimindLabels.pastToken : minimindLabels.newInCall, { i: row }),
          ],
          exact: at(data, headDim, row, col),
          lights: [],
        }),
      ),
      cutAfter: mmPast - 1,
    };
  };
  const once = whole.pass.output.subarray(mmPast * mmHidden, mmLength * mmHidden);
  const cached = pass.output.subarray(0, fresh * mmHidden);
  return {
    layout: "flow",
    grids: [
      past("key", "past_k", minimindLabels.pastK),
      past("value", "past_v", minimindLabels.pastV),
      outputsOf("cached", minimindLabels.outputCached, cached, "once"),
      { ...outputsOf("once", minimindLabels.outputOnce, once, "cached"), sign: "−" },
      { ...differenceGrid(cached, once, mmHidden, ["cached", "once"], numerals(mmHidden), lines), sign: "=" },
    ],
    start: { grid: "past_k", row: 0, col: 0 },
  };
}

/** The key/value head of each query head: as the core repeats them, and laid out over and over. */
export function headMaps({ mmHeads, mmKvHeads }: Inputs) {
  const heads = { data: indices(mmKvHeads), shape: [1, mmKvHeads, 1, 1] };
  return {
    right: [...repeatKv(heads, mmHeads / mmKvHeads).data],
    tiled: indices(mmHeads).map((head) => head % mmKvHeads),
  };
}

function repeatFigure(inputs: Inputs): Figure {
  const { mmLength, mmHeads, mmKvHeads, mmHead } = inputs;
  const run = walk(inputs);
  const { headDim, pass } = run;
  const maps = headMaps(inputs);
  const tensorOf = (id: "q_rope" | "k_rope" | "xv", heads: number, order: readonly number[]): Tensor => ({
    data: Float32Array.from(order.flatMap((head) => [...headOf(pass[id], mmLength, heads, headDim, head)])),
    shape: [order.length, mmLength, headDim],
  });
  const outOf = (order: readonly number[]) => {
    const q = tensorOf("q_rope", mmHeads, indices(mmHeads));
    const [k, v] = [tensorOf("k_rope", mmKvHeads, order), tensorOf("xv", mmKvHeads, order)];
    return block(
      scaledDotProductAttention(q, k, v, { causal: true }).output.data,
      mmLength * headDim,
      mmHead,
    );
  };
  const [right, tiled] = [outOf(maps.right), outOf(maps.tiled)];
  const shown = (id: string, label: Text, data: Float32Array, map: readonly number[], other: string): Grid =>
    grid(
      { id, label, labelValues: { h: mmHead }, data, rows: outputs(mmLength), cols: numerals(headDim) },
      (row, col) => ({
        segments: [
          number(at(data, headDim, row, col)),
          gap,
          words(minimindLabels.readsHead, { h: mmHead, g: map[mmHead] ?? NaN }),
        ],
        exact: at(data, headDim, row, col),
        lights: [{ grid: other, row, col }],
      }),
    );
  return {
    layout: "flow",
    grids: [
      shown("right", minimindLabels.headRight, right, maps.right, "tiled"),
      {
        ...shown("tiled", minimindLabels.headTiled, tiled, maps.tiled, "right"),
        moved: (row, col) =>
          Object.is(at(right, headDim, row, col), at(tiled, headDim, row, col)) ? undefined : "wrong",
      },
    ],
    start: firstCell("tiled"),
  };
}

/** The square tables of the shown head under the reader's padding mask. */
function squares(inputs: Inputs) {
  const { mmLength, mmHead } = inputs;
  const run = walk(inputs, true);
  const square = (id: "qk" | "scores" | "masked" | "exp" | "weights") =>
    block(run.pass[id], mmLength * mmLength, mmHead);
  const row = (id: "rowMax" | "rowSum") => block(run.pass[id], mmLength, mmHead);
  const under = (data: ArrayLike<number>) => ({ data, rows: queries(mmLength), cols: keys(mmLength) });
  const hidden = (query: number, key: number) => key > query || inputs.mmKeep[key] !== true;
  const head = { h: mmHead };

  const scores: Grid = grid(
    { id: "scores", label: minimindLabels.scaledHead, labelValues: head, ...under(square("scores")) },
    (query, key) => {
      const exact = at(square("scores"), mmLength, query, key);
      return {
        segments: [
          number(at(square("qk"), mmLength, query, key)),
          text(" ÷ √"),
          number(run.headDim),
          ...equals(exact),
        ],
        exact,
        lights: [{ grid: "qk", row: query, col: key }],
      };
    },
  );
  const masked: Grid = {
    ...grid({ id: "masked", label: labels.masked, ...under(square("masked")) }, (query, key) => {
      const exact = at(square("masked"), mmLength, query, key);
      const reason = key > query ? minimindLabels.inFuture : explanations.paddedKey;
      return {
        segments: [
          number(at(square("scores"), mmLength, query, key)),
          text(" + "),
          number(hidden(query, key) ? -Infinity : 0, "plain", true),
          ...equals(exact),
          ...(hidden(query, key) ? [gap, words(reason, { j: key })] : []),
        ],
        exact,
        lights: [
          { grid: "scores", row: query, col: key },
          { grid: "keep", col: key },
        ],
      };
    }),
    hidden,
  };
  return { run, square, row, under, hidden, scores, masked };
}

function scoresFigure(inputs: Inputs): Figure {
  const { mmLength, mmHeads, mmHead, mmKvHeads } = inputs;
  const { run, square, under, scores } = squares(inputs);
  const { headDim, kvHead } = run;
  const q = headOf(run.pass.q_rope, mmLength, mmHeads, headDim, mmHead);
  const k = headOf(run.pass.k_rope, mmLength, mmKvHeads, headDim, kvHead);
  const qk = grid(
    { id: "qk", label: minimindLabels.qkHead, labelValues: { h: mmHead }, ...under(square("qk")) },
    (row, col) => {
      const exact = at(square("qk"), mmLength, row, col);
      const pairs = indices(headDim).map(
        (e) =>
          [
            { value: at(q, headDim, row, e), role: "query" },
            { value: at(k, headDim, col, e), role: "key" },
          ] as const,
      );
      return { segments: [...longProductSum(pairs), ...equals(exact)], exact, lights: [] };
    },
  );
  return { layout: "flow", grids: [qk, { ...scores, sign: "→" }], start: firstCell("qk") };
}

function maskFigure(inputs: Inputs, change: Change): Figure {
  const { mmLength, mmKeep } = inputs;
  const { scores, masked } = squares(inputs);
  const real = (key: number) => mmKeep[key] === true;
  const keep: Grid = {
    id: "keep",
    label: minimindLabels.attentionMask,
    data: indices(mmLength).map((key) => (real(key) ? 1 : 0)),
    rows: [{ name: "q", index: "i", role: "query" }],
    cols: keys(mmLength),
    role: "plain",
    scale: "bits",
    hidden: (_, key) => !real(key),
    toggle: (_, key) => {
      change({ mmKeep: mmKeep.with(key, !real(key)) });
    },
    explain: (_, key) => ({
      segments: [words(real(key) ? explanations.realKey : explanations.paddedKey, { j: key })],
      lights: [{ grid: "masked", col: key }],
    }),
  };
  return {
    layout: "flow",
    grids: [scores, keep, { ...masked, sign: "→" }],
    start: { grid: "masked", row: 0, col: 1 },
  };
}

function weightsOf({ square, row, under, hidden }: ReturnType<typeof squares>): Grid {
  return weightsGrid(under(square("weights")), square("exp"), row("rowSum"), { hidden });
}

function weightsFigure(inputs: Inputs): Figure {
  const found = squares(inputs);
  const exp = expGrid(found.masked, found.row("rowMax"), found.square("exp"), found.hidden);
  const weights = weightsOf(found);
  return {
    layout: "triples",
    grids: [
      found.masked,
      exp,
      rowSumGrid(exp, found.row("rowSum")),
      { ...weights, sign: "→" },
      totalGrid(weights),
    ],
    start: firstCell("weights"),
  };
}

function valuesFigure(inputs: Inputs): Figure {
  const { mmLength, mmHeads, mmHead } = inputs;
  const found = squares(inputs);
  const { headDim, pass } = found.run;
  const weights = weightsOf(found);
  const values = headOf(pass.xv_repeat, mmLength, mmHeads, headDim, mmHead);
  const out = block(pass.head_out, mmLength * headDim, mmHead);
  return {
    layout: "product",
    grids: [
      weights,
      grid(
        {
          id: "values",
          label: minimindLabels.xvRepeated,
          labelValues: { h: mmHead },
          data: values,
          rows: rows.value(mmLength),
          cols: numerals(headDim),
          role: "value",
        },
        handedOn(values, headDim, "value", minimindLabels.repeatedNumber, () => []),
      ),
      grid(
        {
          id: "head_out",
          label: minimindLabels.headOut,
          labelValues: { h: mmHead },
          data: out,
          rows: outputs(mmLength),
          cols: numerals(headDim),
        },
        outputExplanation(weights, values, out, headDim, { weights: weights.id, values: "values" }),
      ),
    ],
    start: firstCell("head_out"),
  };
}

function homeFigure(inputs: Inputs): Figure {
  const { mmLength, mmHeads, mmHidden } = inputs;
  const { pass, parameters, headDim } = walk(inputs, true);
  const width = mmHeads * headDim;
  const merged = block(pass.merged, mmLength * width, 0);
  const output = block(pass.output, mmLength * mmHidden, 0);
  return {
    layout: "flow",
    grids: [
      {
        ...grid(
          {
            id: "merged",
            label: labels.merged,
            data: merged,
            rows: outputs(mmLength),
            cols: headColumns(mmHeads, headDim, "H"),
          },
          (row, col) => ({
            segments: [
              number(at(merged, width, row, col)),
              gap,
              words(explanations.ofHead, { h: Math.floor(col / headDim), j: col % headDim }),
            ],
            exact: at(merged, width, row, col),
            lights: [],
          }),
        ),
        group: headDim,
      },
      {
        ...grid(
          {
            id: "output",
            label: minimindLabels.oProj,
            data: output,
            rows: outputs(mmLength),
            cols: numerals(mmHidden),
          },
          (row, col) => {
            const exact = at(output, mmHidden, row, col);
            const pairs = indices(width).map(
              (e) =>
                [
                  { value: at(merged, width, row, e), role: "plain" },
                  { value: at(parameters["o_proj.weight"].data, width, col, e), role: "plain" },
                ] as const,
            );
            return {
              segments: [...longProductSum(pairs), ...equals(exact)],
              exact,
              lights: [{ grid: "merged", row }],
            };
          },
        ),
        sign: "→",
      },
    ],
    start: firstCell("output"),
  };
}

/** The branch that keeps no table of weights, and the one that goes pass by pass. */
function branchesFigure(inputs: Inputs): Figure {
  const { mmLength, mmHidden } = inputs;
  const x = inputOf(inputs);
  const [fast, plain] = withAttention(sizesOf(inputs), (layer) => [
    layer.forward(x).output.data,
    layer.forward(x, { fast: false }).output.data,
  ]) as [Float32Array, Float32Array];
  const first = (data: Float32Array) => block(data, mmLength * mmHidden, 0);
  const shown = (id: string, label: Text, data: Float32Array, other: string) =>
    grid(
      { id, label, data, rows: outputs(mmLength), cols: numerals(mmHidden) },
      handedOn(data, mmHidden, "plain", minimindLabels.outputNumber, (row, col) => [
        { grid: other, row, col },
      ]),
    );
  return {
    layout: "flow",
    grids: [
      shown("fast", minimindLabels.fastBranch, first(fast), "plain"),
      { ...shown("plain", minimindLabels.plainBranch, first(plain), "fast"), sign: "−" },
      {
        ...differenceGrid(
          first(fast),
          first(plain),
          mmHidden,
          ["fast", "plain"],
          numerals(mmHidden),
          outputs(mmLength),
        ),
        sign: "=",
      },
    ],
    start: firstCell("difference"),
  };
}

export function minimindFigure(step: string, inputs: Inputs, change: Change): Figure | undefined {
  switch (step) {
    case "x":
      return { layout: "flow", grids: [xGrid(inputs, change)], start: firstCell("x") };
    case "project": {
      const run = walk(inputs);
      return {
        layout: "flow",
        grids: [xGrid(inputs), ...kinds.map((kind) => projectionGrid(kind, inputs, run))],
        start: firstCell("q_proj"),
      };
    }
    case "view":
      return viewFigure(inputs);
    case "norm":
      return normFigure(inputs);
    case "rope":
      return ropeFigure(inputs);
    case "pairings":
      return pairingsFigure(inputs);
    case "distance":
      return distanceFigure(inputs);
    case "cache":
      return cacheFigure(inputs);
    case "repeat":
      return repeatFigure(inputs);
    case "scores":
      return scoresFigure(inputs);
    case "mask":
      return maskFigure(inputs, change);
    case "weights":
      return weightsFigure(inputs);
    case "values":
      return valuesFigure(inputs);
    case "home":
      return homeFigure(inputs);
    case "branches":
      return branchesFigure(inputs);
    default:
      return undefined;
  }
}
