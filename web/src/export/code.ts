import type { Input, Program, Run } from "../compute/programs/program.ts";

// A program of a step as text. All languages print the same passes under the same names.

export const codeLanguages = ["NumPy", "PyTorch", "JavaScript"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

/** Rows of a matrix as nested brackets, a row a line. */
function brackets(input: Input, indent: string, write: (index: number) => string): string {
  const [rows, cols] = input.shape;
  const lines = Array.from({ length: rows }, (_, row) => {
    const cells = Array.from({ length: cols }, (__, col) => write(row * cols + col));
    return `${indent}[${cells.join(", ")}],`;
  });
  return `[\n${lines.join("\n")}\n]`;
}

const nested = (input: Input, indent: string, yes: string, no: string) =>
  brackets(input, indent, (index) =>
    "bits" in input ? (input.bits[index] === true ? yes : no) : String(input.numbers[index]),
  );

/** Where the two Python libraries differ. */
interface Dialect {
  module: string;
  array: (rows: string, bits: boolean) => string;
  along: string;
  max: string;
  hide: string;
}

const dialects: Readonly<Record<"NumPy" | "PyTorch", Dialect>> = {
  NumPy: {
    module: "import numpy as np",
    array: (rows, bits) => `np.array(${rows}, dtype=${bits ? "bool" : "np.float32"})`,
    along: "axis=-1, keepdims=True",
    max: "max",
    hide: "np.where(mask, scores, np.float32(-np.inf))",
  },
  PyTorch: {
    module: "import torch",
    array: (rows, bits) => `torch.tensor(${rows}, dtype=${bits ? "torch.bool" : "torch.float32"})`,
    along: "dim=-1, keepdim=True",
    max: "amax",
    hide: 'scores.masked_fill(~mask, float("-inf"))',
  },
};

function pythonHelpers(runs: readonly Run[], { along, max, hide }: Dialect): string {
  const masked = runs.some(({ mask }) => mask !== undefined);
  const late = runs.some(({ order }) => order === "after");
  const exp = max === "max" ? "np.exp" : "torch.exp";
  const parts = [
    `def show(name, rows):
    print(name)
    for row in rows.tolist():
        print(*(f"{number:.9g}" for number in row))`,
    `def softmax(scores):
    row_max = scores.${max}(${along})
    show("rowMax", row_max)
    row_max[row_max == -float("inf")] = 0  # a row with no key left
    exp = ${exp}(scores - row_max)
    show("exp", exp)
    row_sum = exp.sum(${along})
    show("rowSum", row_sum)
    row_sum[row_sum == 0] = 1
    return exp / row_sum`,
    ...(masked
      ? [
          `def mask_then_softmax(scores, mask):
    masked = ${hide}
    show("masked", masked)
    weights = softmax(masked)
    show("weights", weights)
    return weights`,
        ]
      : []),
    ...(late
      ? [
          `def softmax_then_mask(scores, mask):  # the wrong order
    weights = softmax(scores)
    show("softmax", weights)
    weights = weights * mask
    show("weights", weights)
    return weights`,
        ]
      : []),
  ];
  return parts.join("\n\n\n");
}

function pythonRun(run: Run): string {
  const weigh = (scores: string) => {
    if (run.mask === undefined) return `weights = softmax(${scores})\nshow("weights", weights)`;
    const order = run.order === "after" ? "softmax_then_mask" : "mask_then_softmax";
    return `weights = ${order}(${scores}, ${run.mask})`;
  };
  if (run.kind === "softmax") return weigh(run.scores);
  return `scores = ${run.q} @ ${run.k}.T
show("scores", scores)
scaled = scores / ${run.q}.shape[-1] ** 0.5
show("scaled", scaled)
${weigh("scaled")}${run.output ? `\noutput = weights @ ${run.v}\nshow("output", output)` : ""}`;
}

function python({ inputs, runs }: Program, dialect: Dialect): string {
  const given = inputs.map(
    (input) => `${input.name} = ${dialect.array(nested(input, "    ", "True", "False"), "bits" in input)}`,
  );
  return [
    dialect.module,
    "",
    "",
    pythonHelpers(runs, dialect),
    "",
    "",
    ...given,
    "",
    runs.map(pythonRun).join("\n\n"),
    "",
  ].join("\n");
}

function javaScriptRun(run: Run): string {
  const options = run.mask === undefined ? "" : `, { ${run.mask} }`;
  if (run.kind === "softmax") {
    const call = run.order === "after" ? "faultyAttention.softmaxThenMask" : "softmax.trace";
    return `show(${call}(${run.scores}${options}).steps);`;
  }
  const given = [run.q, run.k, run.v].join(", ");
  const trace = `scaledDotProductAttention.trace(${given}${run.order === "after" ? "" : options}).steps`;
  if (run.mask === undefined) return `show(${trace}.filter(({ id }) => id !== "masked"));`;
  if (run.order !== "after") return `show(${trace});`;
  const output = `show([{ id: "output", tensor: faultyAttention("mask-after-softmax", ${given}) }]);`;
  return `{
  const [scores, scaled] = ${trace};
  show([scores, scaled, ...faultyAttention.softmaxThenMask(scaled.tensor${options}).steps]); // the wrong order
${run.output ? `  ${output}\n` : ""}}`;
}

function javaScript({ inputs, runs }: Program): string {
  const calls = runs.map(javaScriptRun).join("\n");
  const names = ["faultyAttention", "scaledDotProductAttention", "softmax.trace"].filter((name) =>
    calls.includes(name),
  );
  const given = inputs.map((input) => `const ${input.name} = ${nested(input, "  ", "true", "false")};`);
  return [
    `import { ${names.map((name) => name.replace(".trace", "")).join(", ")} } from "softlookup";`,
    "",
    `function show(steps) {
  for (const { id, tensor } of steps) {
    console.log(id);
    const width = /^row/.test(id) ? 1 : tensor.shape.at(-1);
    for (let i = 0; i < tensor.data.length; i += width) console.log(...tensor.data.slice(i, i + width));
  }
}`,
    "",
    ...given,
    "",
    calls,
    "",
  ].join("\n");
}

export function codeOf(program: Program, language: CodeLanguage): string {
  return language === "JavaScript" ? javaScript(program) : python(program, dialects[language]);
}
