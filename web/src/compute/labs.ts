import {
  mergeHeads,
  randomNormal,
  repeatKv,
  rmsNorm,
  rope,
  rowSums,
  scaledDotProductAttention,
  splitHeads,
  type GroupedQueryStep,
  type Tensor,
} from "softlookup";
import { at, indices, passes } from "./figure.ts";
import { block, difference, largest, projected } from "./layers.ts";
import { eps, type Parameters, type Sizes, withAttention } from "./minimind.ts";

const shapeText = (shape: readonly number[]) => `(${shape.join(", ")})`;

function matrixText(data: ArrayLike<number>, cols: number): string {
  const cells = Array.from(data, (value) => value.toFixed(4));
  const rows = indices(cells.length / cols).map((row) =>
    cells.slice(row * cols, (row + 1) * cols).join(", "),
  );
  return `[[${rows.join("],\n [")}]]`;
}

/** Flat [B·n, width] of a tensor with more axes, for a projection. */
const flat = ({ data, shape }: Tensor): Tensor => {
  const width = shape.at(-1) ?? 1;
  return { data, shape: [data.length / width, width] };
};

/** The layer again, put together from the package's single functions. */
function byHand(
  x: Tensor,
  parameters: Parameters,
  { batch, length, heads, kvHeads, theta }: Sizes,
): Float32Array {
  const cut = (name: "q_proj.weight" | "k_proj.weight" | "v_proj.weight", count: number) => {
    const { data, shape } = projected(flat(x), parameters[name]);
    return splitHeads({ data, shape: [batch, length, shape[1] ?? 0] }, count);
  };
  const turned = (head: Tensor, weight: Tensor) =>
    rope(rmsNorm(head, { weight, eps }), { layout: "half", theta });
  const repeated = (head: Tensor) => repeatKv(head, heads / kvHeads);
  const q = turned(cut("q_proj.weight", heads), parameters["q_norm.weight"]);
  const k = repeated(turned(cut("k_proj.weight", kvHeads), parameters["k_norm.weight"]));
  const v = repeated(cut("v_proj.weight", kvHeads));
  const { output } = passes(scaledDotProductAttention.trace(q, k, v, { causal: true }));
  return projected(flat(mergeHeads({ data: output, shape: q.shape })), parameters["o_proj.weight"]).data;
}

/** What the lab prints for some sizes. */
export function labLines(sizes: Sizes): string[] {
  return withAttention(sizes, (layer, parameters) => {
    const { batch, length, hidden, seed } = sizes;
    const x = randomNormal([batch, length, hidden], seed);
    const trace = layer.trace(x);
    const shape = (id: GroupedQueryStep) =>
      shapeText(trace.steps.find((step) => step.id === id)?.shape ?? []);
    const weights = block(passes(trace).weights, length * length, 0);
    const future = indices(length * length)
      .filter((place) => place % length > Math.floor(place / length))
      .map((place) => at(weights, length * length, 0, place));
    const [mass = 0] = rowSums({ data: future, shape: [1, future.length] }).data;
    const apart = largest(
      difference(byHand(x, parameters, sizes), layer.forward(x, { fast: false }).output.data),
    );
    return [
      `x.shape=${shapeText(x.shape)}`,
      `head_dim=${String(layer.headDim)}`,
      `q_proj(x).shape=${shape("q_proj")}`,
      `k_proj(x).shape=${shape("k_proj")}`,
      `v_proj(x).shape=${shape("v_proj")}`,
      `xq.shape=${shape("xq")}`,
      `xk after repeat shape=${shape("xk_repeat")}`,
      `scores.shape=${shape("scores")}`,
      "attention weights for batch 0, head 0 =",
      ...matrixText(weights, length).split("\n"),
      `future_attention_mass_for_batch0_head0=${mass.toFixed(10)}`,
      `manual_vs_module_max_abs_diff=${apart.toFixed(12)}`,
    ];
  });
}

const lab = { batch: 2, length: 5, seed: 1, theta: 1_000_000 };
export const labA: Sizes = { ...lab, hidden: 64, heads: 4, kvHeads: 2 };
export const labB: Sizes = { ...lab, hidden: 96, heads: 6, kvHeads: 3 };
