import { masks, type GroupedQueryStep } from "softlookup";
import { minimindLabels, minimindTerms } from "../content/minimind.ts";
import type { Text } from "../content/text.ts";
import { ui } from "../content/ui.ts";
import { headCounts } from "../state/fields/heads.ts";
import { hiddenSizes, minimindRanges, queryHeadCounts, thetas } from "../state/fields/minimind.ts";
import type { Inputs } from "../state/inputs.ts";
import type { Control } from "./controls.ts";
import { type Entry, type Listing, textEntry } from "./listing.ts";
import { keepOf, walk, walkCached } from "./minimind.ts";

const shapeEntry = (shape: readonly number[]): Entry => ({ kind: "shape", shape });

type Line = readonly [line: Text, names: Text, shape: readonly number[]];

const lines = (id: string, rows: readonly Line[]): Listing => ({
  id,
  columns: [minimindTerms.line, minimindTerms.inLetters, minimindTerms.inNumbers],
  rows: rows.map(([line, names, shape]) => [textEntry(line), textEntry(names), shapeEntry(shape)]),
});

/** Axes 1 and 2 changed over, as transpose(1, 2) does. */
const swapped = ([b = 0, one = 0, other = 0, ...rest]: readonly number[]) => [b, other, one, ...rest];

/** The lines of each step and the shapes of what they make. */
function linesOf(step: string, inputs: Inputs): readonly Line[] {
  const { shapes, x } = walk(inputs);
  const wide = {
    q: [minimindTerms.qProj, minimindTerms.wideQ, shapes.q_proj],
    k: [minimindTerms.kProj, minimindTerms.wideKv, shapes.k_proj],
    v: [minimindTerms.vProj, minimindTerms.wideKv, shapes.v_proj],
  } as const;
  switch (step) {
    case "x":
      return [[minimindTerms.x, minimindTerms.hidden, x.shape]];
    case "project":
      return [wide.q, wide.k, wide.v];
    case "view":
      return [
        [minimindTerms.xq, minimindTerms.cutQ, shapes.xq],
        [minimindTerms.xk, minimindTerms.cutKv, shapes.xk],
        [minimindTerms.xv, minimindTerms.cutKv, shapes.xv],
      ];
    case "norm":
      return [
        [minimindTerms.qNorm, minimindTerms.cutQ, shapes.q_norm],
        [minimindTerms.kNorm, minimindTerms.cutKv, shapes.k_norm],
      ];
    case "rope":
      return [
        [minimindTerms.qRope, minimindTerms.cutQ, shapes.q_rope],
        [minimindTerms.kRope, minimindTerms.cutKv, shapes.k_rope],
      ];
    case "cache": {
      const { steps } = walkCached(inputs);
      const shapeOf = (id: GroupedQueryStep) => steps.find((one) => one.id === id)?.shape ?? [];
      return [
        [minimindTerms.newK, minimindTerms.newLength, shapeOf("xk")],
        [minimindTerms.pastK, minimindTerms.allLength, shapeOf("past_k")],
        [minimindTerms.pastV, minimindTerms.allLength, shapeOf("past_v")],
      ];
    }
    case "repeat":
      return [
        [minimindTerms.xqSwapped, minimindTerms.headsFirst, swapped(shapes.q_rope)],
        [minimindTerms.xkRepeat, minimindTerms.headsFirst, swapped(shapes.xk_repeat)],
        [minimindTerms.xvRepeat, minimindTerms.headsFirst, swapped(shapes.xv_repeat)],
      ];
    case "scores":
      return [[minimindTerms.scores, minimindTerms.square, shapes.scores]];
    case "mask":
      return [[minimindTerms.masked, minimindTerms.square, shapes.masked]];
    case "weights":
      return [[minimindTerms.weights, minimindTerms.square, shapes.weights]];
    case "values":
      return [[minimindTerms.headOut, minimindTerms.headsFirst, shapes.head_out]];
    case "home":
      return [
        [minimindTerms.merged, minimindTerms.wideQ, shapes.merged],
        [minimindTerms.oProj, minimindTerms.hidden, shapes.output],
      ];
    default:
      return [];
  }
}

/** The eight names of the lesson's dictionary, with the shapes of this run. */
function variablesListing(inputs: Inputs): Listing {
  const { shapes, x } = walk(inputs);
  const row = (name: Text, first: readonly number[], later: readonly number[] | undefined, meaning: Text) => [
    textEntry(name),
    shapeEntry(first),
    later === undefined ? textEntry(minimindTerms.same) : shapeEntry(later),
    textEntry(meaning),
  ];
  return {
    id: "variables",
    columns: [minimindTerms.variable, minimindTerms.atFirst, minimindTerms.later, minimindTerms.meaning],
    rows: [
      row(minimindTerms.x, x.shape, undefined, minimindTerms.xMeans),
      row(minimindTerms.xq, shapes.xq, swapped(shapes.q_rope), minimindTerms.xqMeans),
      row(minimindTerms.xk, shapes.xk, swapped(shapes.xk_repeat), minimindTerms.xkMeans),
      row(minimindTerms.xv, shapes.xv, swapped(shapes.xv_repeat), minimindTerms.xvMeans),
      row(minimindTerms.scores, shapes.qk, undefined, minimindTerms.scoresMeans),
      row(
        minimindTerms.attentionMask,
        keepOf(inputs).shape,
        masks.padding(new Array<number>(inputs.mmBatch).fill(inputs.mmLength), inputs.mmLength).shape,
        minimindTerms.maskMeans,
      ),
      row(minimindTerms.output, shapes.head_out, shapes.output, minimindTerms.outputMeans),
      row(minimindTerms.pastKv, shapes.past_k, shapes.past_v, minimindTerms.pastMeans),
    ],
  };
}

export function minimindListing(step: string, inputs: Inputs): Listing | undefined {
  if (step === "variables") return variablesListing(inputs);
  const rows = linesOf(step, inputs);
  return rows.length > 0 ? lines(step, rows) : undefined;
}

// --- settings -----------------------------------------------------------------------------------

const ropeSteps: readonly string[] = ["rope", "pairings", "distance"];

export function minimindControls(step: string, inputs: Inputs): readonly Control[] {
  const { mmLength, mmHidden, mmHeads } = inputs;
  return [
    ...(["x", "variables", "labs"].includes(step)
      ? [{ kind: "slider", key: "mmBatch", label: ui.batch, range: minimindRanges.mmBatch } as const]
      : []),
    { kind: "slider", key: "mmLength", label: ui.length, range: minimindRanges.mmLength },
    { kind: "steps", key: "mmHidden", label: minimindLabels.hiddenSize, values: hiddenSizes },
    { kind: "steps", key: "mmHeads", label: minimindLabels.queryHeads, values: queryHeadCounts(mmHidden) },
    { kind: "steps", key: "mmKvHeads", label: ui.kvHeads, values: headCounts(mmHeads) },
    ...(["x", "project", "home", "branches", "variables", "labs"].includes(step)
      ? []
      : [
          {
            kind: "slider",
            key: "mmHead",
            label: minimindLabels.shownHead,
            range: [0, mmHeads - 1],
          } as const,
        ]),
    ...(step === "cache"
      ? [{ kind: "slider", key: "mmPast", label: minimindLabels.past, range: [1, mmLength - 1] } as const]
      : []),
    ...(step === "pairings" || step === "distance"
      ? [
          {
            kind: "slider",
            key: "mmPosition",
            label: minimindLabels.ropePosition,
            range: [0, mmLength - 1],
          } as const,
        ]
      : []),
    ...(step === "distance"
      ? [
          {
            kind: "number",
            key: "mmStart",
            label: minimindLabels.start,
            range: minimindRanges.mmStart,
          } as const,
        ]
      : []),
    ...(ropeSteps.includes(step)
      ? [{ kind: "steps", key: "mmTheta", label: minimindLabels.theta, values: thetas } as const]
      : []),
    {
      kind: "number",
      key: "mmSeed",
      label: ui.seed,
      range: minimindRanges.mmSeed,
      resets: { mmTokens: [] },
    },
  ];
}
