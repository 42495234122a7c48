import type { AttentionRun, Run } from "../../compute/programs/program.ts";
import { pythonMaskFirst, pythonShow, pythonSoftmax, type Dialect, type Writer } from "./dialect.ts";

type Of<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

const pythonMaskLate = `def softmax_then_mask(scores, mask):  # the wrong order
    weights = softmax(scores)
    show("softmax", weights)
    weights = weights * mask
    show("weights", weights)
    return weights`;

function maskHelpers({ mask, order }: AttentionRun | Of<"softmax">, dialect: Dialect): string[] {
  return [
    pythonShow,
    pythonSoftmax(dialect),
    ...(mask !== undefined ? [pythonMaskFirst(dialect)] : []),
    ...(order === "after" ? [pythonMaskLate] : []),
  ];
}

function weigh({ mask, order }: AttentionRun | Of<"softmax">, scores: string): string {
  if (mask === undefined) return `weights = softmax(${scores})\nshow("weights", weights)`;
  return `weights = ${order === "after" ? "softmax_then_mask" : "mask_then_softmax"}(${scores}, ${mask})`;
}

const javaScriptOptions = (options: readonly (string | undefined)[]) => {
  const given = options.filter((option) => option !== undefined);
  return given.length > 0 ? `, { ${given.join(", ")} }` : "";
};

/** Passes that change nothing are not shown. */
const without = (...ids: readonly (string | false)[]) =>
  `.filter(({ id }) => ${ids
    .filter((id) => id !== false)
    .map((id) => `id !== "${id}"`)
    .join(" && ")})`;

const pythonSharpness = ({ lib, along, max }: Dialect) => `
show("largest", weights.${max}(${along}))
bits = -weights * ${lib}.log2(${lib}.where(weights > 0, weights, weights * 0 + 1))
show("entropy", bits.sum(${along}))`;

const javaScriptSharpness = `show([
  { id: "largest", tensor: { data: [Math.max(...weights.tensor.data)], shape: [1, 1] } },
  { id: "entropy", tensor: rowEntropies(weights.tensor) },
]);`;

export const attentionWriter: Writer<AttentionRun> = {
  helpers: maskHelpers,
  python(run, dialect) {
    const { q, k, v, divisor, output, sharpness } = run;
    const undivided = divisor === "1";
    return [
      `scores = ${q} @ ${k}.T\nshow("scores", scores)`,
      undivided ? "" : `\nscaled = scores / ${divisor ?? `${q}.shape[-1] ** 0.5`}\nshow("scaled", scaled)`,
      `\n${weigh(run, undivided ? "scores" : "scaled")}`,
      output ? `\noutput = weights @ ${v}\nshow("output", output)` : "",
      sharpness === true ? pythonSharpness(dialect) : "",
    ].join("");
  },
  javaScript({ q, k, v, mask, order, divisor, output, sharpness }) {
    const given = [q, k, v].join(", ");
    const scale = divisor === undefined ? undefined : `scale: ${divisor === "1" ? "1" : `1 / ${divisor}`}`;
    const options = javaScriptOptions([scale, order === "after" ? undefined : mask]);
    const trace = `scaledDotProductAttention.trace(${given}${options}).steps`;
    if (sharpness === true) {
      return `{
  const steps = ${trace};
  const weights = steps.find(({ id }) => id === "weights");
  show(steps${without("masked", "output", divisor === "1" && "scaled")});
  ${javaScriptSharpness.replaceAll("\n", "\n  ")}
}`;
    }
    if (mask === undefined) return `show(${trace}${without("masked", divisor === "1" && "scaled")});`;
    if (order !== "after") return `show(${trace});`;
    const shown = `show([{ id: "output", tensor: faultyAttention("mask-after-softmax", ${given}) }]);`;
    return `{
  const [scores, scaled] = ${trace};
  show([scores, scaled, ...faultyAttention.softmaxThenMask(scaled.tensor${javaScriptOptions([mask])}).steps]); // the wrong order
${output ? `  ${shown}\n` : ""}}`;
  },
};

export const softmaxWriter: Writer<Of<"softmax">> = {
  helpers: maskHelpers,
  python: (run) => weigh(run, run.scores),
  javaScript({ scores, mask, order }) {
    const call = order === "after" ? "faultyAttention.softmaxThenMask" : "softmax.trace";
    return `show(${call}(${scores}${javaScriptOptions([mask])}).steps);`;
  },
};

export const hardWriter: Writer<Of<"hard">> = {
  helpers: (_, dialect) => [pythonShow, pythonSoftmax(dialect), pythonMaskFirst(dialect)],
  python: ({ q, k, v }, { along, max }) => `scores = ${q} @ ${k}.T
show("scores", scores)
best = scores == scores.${max}(${along})  # all the others are out
weights = mask_then_softmax(scores, best)
output = weights @ ${v}
show("output", output)`,
  javaScript({ q, k, v }) {
    const trace = (options: string) =>
      `scaledDotProductAttention.trace(${q}, ${k}, ${v}, { ${options} }).steps`;
    return `const { data: scores } = ${trace("scale: 1")}[0].tensor;
const best = [Array.from(scores, (score) => score === Math.max(...scores))]; // all the others are out
show(${trace("scale: 1, mask: best")}${without("scaled")});`;
  },
};

export const additiveWriter: Writer<Of<"additive">> = {
  helpers: (_, dialect) => [pythonShow, pythonSoftmax(dialect)],
  python: ({ q, k, v: values }, { lib }) => `query = ${q} @ W.T + b
show("query", query)
key = ${k} @ U.T
show("key", key)
scores = ${lib}.tanh(query[:, None] + key) @ v
show("scores", scores)
weights = softmax(scores)
show("weights", weights)
output = weights @ ${values}
show("output", output)`,
  javaScript: ({ q, k, v: values }) =>
    `show(additiveAttention.trace(${q}, ${k}, ${values}, { W, U, b, v }).steps${without("masked")});`,
};

export const fixedContextWriter: Writer<Of<"fixedContext">> = {
  helpers: () => [pythonShow],
  python: () => `output = encoder[[-1] * len(decoder)]  # the same for every step
show("output", output)`,
  javaScript: () => `const output = decoder.map(() => encoder.at(-1)); // the same for every step
const shape = [output.length, output[0].length];
show([{ id: "output", tensor: { data: Float32Array.from(output.flat()), shape } }]);`,
};

const pythonFeature = ({ lib }: Dialect) => `def feature(x):  # elu(x) + 1
    return ${lib}.where(x > 0, x + 1, ${lib}.exp(x))`;

export const linearWriter: Writer<Of<"linear">> = {
  helpers: (_, dialect) => [pythonShow, pythonFeature(dialect)],
  python: (_, { axis }) => `query, key = feature(q), feature(k)
products = (key[:, :, None] * v[:, None, :]).cumsum(${axis(0)})  # all that a query needs of the keys before it
sums = key.cumsum(${axis(0)})
linear = (query[:, :, None] * products).sum(${axis(1)}) / (query * sums).sum(${axis(1)})[:, None]
show("soft", output)
show("linear", linear)
show("difference", output - linear)`,
  javaScript: () => `{
  const soft = scaledDotProductAttention(q, k, v, { causal: true }).output;
  const linear = linearAttention(q, k, v, { causal: true }).output;
  const difference = Float32Array.from(soft.data, (value, i) => value - linear.data[i]);
  show([
    { id: "soft", tensor: soft },
    { id: "linear", tensor: linear },
    { id: "difference", tensor: { data: difference, shape: linear.shape } },
  ]);
}`,
};
