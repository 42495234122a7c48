import type { Input, Program, Run } from "../compute/programs/program.ts";
import {
  additiveWriter,
  attentionWriter,
  fixedContextWriter,
  hardWriter,
  linearWriter,
  softmaxWriter,
} from "./programs/attention.ts";
import { chunkMaskWriter, decodeWriter } from "./programs/cache.ts";
import {
  cacheMemoryWriter,
  calculatorWriter,
  matricesWriter,
  nextTokenWriter,
  operationsWriter,
  parametersWriter,
  scoreTableWriter,
  windowWriter,
} from "./programs/cost.ts";
import { type Dialect, dialects, pythonRandom, type Writer } from "./programs/dialect.ts";
import { headsWriter, shapesWriter } from "./programs/heads.ts";
import { leakCheckWriter, sequenceWriter } from "./programs/leak.ts";
import { minimindWriter } from "./programs/minimind.ts";
import { drawsWriter, saturationWriter, varianceWriter } from "./programs/scale.ts";

// A program of a step as text. All languages print the same passes under the same names.

export const codeLanguages = ["NumPy", "PyTorch", "JavaScript"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

const writers: { readonly [Kind in Run["kind"]]: Writer<Extract<Run, { kind: Kind }>> } = {
  attention: attentionWriter,
  softmax: softmaxWriter,
  hard: hardWriter,
  additive: additiveWriter,
  fixedContext: fixedContextWriter,
  linear: linearWriter,
  draws: drawsWriter,
  variance: varianceWriter,
  saturation: saturationWriter,
  chunkMask: chunkMaskWriter,
  decode: decodeWriter,
  heads: headsWriter,
  shapes: shapesWriter,
  minimind: minimindWriter,
  operations: operationsWriter,
  scoreTable: scoreTableWriter,
  matrices: matricesWriter,
  nextToken: nextTokenWriter,
  parameters: parametersWriter,
  calculator: calculatorWriter,
  cacheMemory: cacheMemoryWriter,
  window: windowWriter,
  sequence: sequenceWriter,
  leakCheck: leakCheckWriter,
};

const writerOf = (run: Run) => writers[run.kind] as unknown as Writer<Run>;

/** A row in brackets, or the rows of a matrix, a row a line. */
function brackets(shape: readonly number[], indent: string, write: (index: number) => string): string {
  const [rows = 0, cols] = shape;
  const row = (start: number, count: number) =>
    `[${Array.from({ length: count }, (_, col) => write(start + col)).join(", ")}]`;
  if (cols === undefined) return row(0, rows);
  const lines = Array.from({ length: rows }, (_, index) => `${indent}${row(index * cols, cols)},`);
  return `[\n${lines.join("\n")}\n]`;
}

type Given = Extract<Input, { shape: readonly number[] } & ({ numbers: unknown } | { bits: unknown })>;

/** As short as it can be and still the same float32. */
function short(number: number): string {
  const wanted = Math.fround(number);
  for (let digits = 1; digits < 9; digits += 1) {
    const text = String(Number(number.toPrecision(digits)));
    if (Math.fround(Number(text)) === wanted) return text;
  }
  return String(Number(number.toPrecision(9)));
}

const nested = (input: Given, indent: string, yes: string, no: string) =>
  brackets(input.shape, indent, (index) =>
    "bits" in input ? (input.bits[index] === true ? yes : no) : short(input.numbers[index] ?? NaN),
  );

function pythonInput(input: Input, dialect: Dialect): string {
  if ("value" in input) return `${input.name} = ${String(input.value)}`;
  if ("seed" in input) return `${input.name} = random_normal(${[input.seed, ...input.shape].join(", ")})`;
  return `${input.name} = ${dialect.array(nested(input, "    ", "True", "False"), "bits" in input)}`;
}

function python({ inputs, runs }: Program, dialect: Dialect): string {
  const drawn = inputs.some((input) => "seed" in input) ? [pythonRandom(dialect)] : [];
  const helpers = new Set([...drawn, ...runs.flatMap((run) => writerOf(run).helpers(run, dialect))]);
  const given = inputs.map((input) => `${pythonInput(input, dialect)}\n`);
  const text = runs.map((run) => writerOf(run).python(run, dialect)).join("\n\n");
  const body = [[...helpers].join("\n\n\n"), [...given, `\n${text}\n`].join("")].join("\n\n\n");
  const standard = ["math", "random"]
    .filter((name) => body.includes(`${name}.`))
    .map((name) => `import ${name}`);
  const imports = [standard.join("\n"), body.includes(`${dialect.lib}.`) ? dialect.module : ""];
  return `${imports.filter(Boolean).join("\n\n")}\n\n\n${body}`.trimStart();
}

/** What programs use of the package. */
const imported = [
  "GroupedQueryAttention",
  "KVCache",
  "MultiHeadAttention",
  "additiveAttention",
  "checkCausality",
  "cost",
  "dotProductMoments",
  "faultyAttention",
  "linearAttention",
  "masks",
  "mergeHeads",
  "moments",
  "randomNormal",
  "rowEntropies",
  "rowSums",
  "scaledDotProductAttention",
  "softmax",
  "splitHeads",
];

const javaScriptShow = `function show(steps) {
  for (const { id, tensor } of steps) {
    console.log(id);
    const width = /^row/.test(id) ? 1 : tensor.shape.at(-1);
    for (let i = 0; i < tensor.data.length; i += width) console.log(...tensor.data.slice(i, i + width));
  }
}

`;

function javaScriptInput(input: Input): string {
  if ("value" in input) return `const ${input.name} = ${String(input.value)};`;
  if ("seed" in input) {
    return `const ${input.name} = randomNormal([${input.shape.join(", ")}], ${String(input.seed)});`;
  }
  return `const ${input.name} = ${nested(input, "  ", "true", "false")};`;
}

function javaScript({ inputs, runs }: Program): string {
  const given = inputs.map(javaScriptInput).join("\n");
  const text = runs.map((run) => writerOf(run).javaScript(run)).join("\n");
  const names = imported.filter((name) =>
    new RegExp(`(?<!\\w\\.|")\\b${name}[.(]`).test(`${given}\n${text}`),
  );
  const imports = names.length > 0 ? `import { ${names.join(", ")} } from "softlookup";\n\n` : "";
  return `${imports}${text.includes("show(") ? javaScriptShow : ""}${given}${given && "\n\n"}${text}
`;
}

export function codeOf(program: Program, language: CodeLanguage): string {
  return language === "JavaScript" ? javaScript(program) : python(program, dialects[language]);
}
