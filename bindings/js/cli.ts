#!/usr/bin/env node
// The command `softlookup`.

import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { AttentionError } from "./error.js";
import { instance } from "./instance.js";
import type { CausalityReport, Leak, Tensor } from "./types.js";

const usage = `softlookup trace [options]           an attention layer's shapes, weights, and its output checked by hand
  --hidden_size N                     default 64
  --num_attention_heads N             default 4
  --num_key_value_heads N             default 2
  --seed N                            default 1

softlookup leak <module.js> [options] does a causal attention see the future?
  The module exports a function of { q, k, v }, float32 tensors { data, shape } of shape [1, H, L, E], that
  returns a tensor of as many tokens, or an object with \`output\`. It may be async.
  --export NAME                       which export, default "default"
  --length L                          tokens, default 8
  --dim E                             head dim, default 16
  --heads H                           default 2
  --tolerance X                       differences up to X count as none, default 0: compare bits
  --seed N                            default 1
  Exit code 0: causal; 1: it leaks, or passes NaN on; 2: it could not be checked.

softlookup --help
softlookup --version
`;

/** What the command was told wrongly, or what the user's module did. */
class Refusal extends Error {}

/** Prints, and resolves to the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case "trace":
      return trace(rest);
    case "leak":
      return leak(rest);
    case "--help":
    case "-h":
    case "help":
      process.stdout.write(usage);
      return 0;
    case "--version":
    case "-v":
      console.log(version());
      return 0;
    default:
      throw new Refusal(command === undefined ? "a command is wanted" : `unknown command "${command}"`);
  }
}

function version(): string {
  const url = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { version: string }).version;
}

/** The example of the same name, which computes the layer a second time without this package. */
async function trace(args: string[]): Promise<number> {
  const url = new URL("../examples/trace_attention_shapes.mjs", import.meta.url);
  const example = (await import(url.href)) as { traceAttentionShapes: (args: string[]) => string[] };
  console.log(example.traceAttentionShapes(args).join("\n"));
  return 0;
}

async function leak(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      export: { type: "string", default: "default" },
      length: { type: "string", default: "8" },
      dim: { type: "string", default: "16" },
      heads: { type: "string", default: "2" },
      tolerance: { type: "string", default: "0" },
      seed: { type: "string", default: "1" },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new Refusal("leak wants one module");
  }
  const fn = await load(file, values.export);
  const shape = [1, Number(values.heads), Number(values.length), Number(values.dim)];
  const seed = Number(values.seed);
  const random = (nth: number): Tensor => instance.randomNormal(shape, seed + nth);
  const input = { q: random(0), k: random(1), v: random(2) };
  const report = await instance.checkCausality(fn, input, {
    seed: seed + 3,
    tolerance: Number(values.tolerance),
  });
  console.log(describe(report).join("\n"));
  return report.causal ? 0 : 1;
}

async function load(file: string, name: string): Promise<(input: unknown) => unknown> {
  if (!existsSync(file)) {
    throw new Refusal(`there is no ${file}`);
  }
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const fn = module[name];
  if (typeof fn !== "function") {
    const exported = Object.keys(module).join(", ") || "nothing";
    throw new Refusal(`${file} exports no function "${name}", but ${exported}`);
  }
  return fn as (input: unknown) => unknown;
}

function describe(report: CausalityReport): string[] {
  const { verdict, length, calls, tolerance, leaks, poisonings, blind } = report;
  const compared =
    report.comparison === "bitwise" ? "compared to the bit" : `differences up to ${tolerance} allowed`;
  const titles = {
    causal: "causal: no output moved when later tokens changed",
    leak: "LEAK: outputs moved when only later tokens changed",
    "nan-poisoning": "NaN POISONING: outputs moved when later tokens were NaN, and for nothing else",
  };
  return [
    titles[verdict],
    `${length} tokens, ${calls} calls, ${compared}`,
    ...table("leaks", leaks),
    ...table("NaN poisonings", poisonings),
    ...(blind.length > 0
      ? [`outputs that ignore their own token (a diagonal off by one?): ${blind.join(", ")}`]
      : []),
  ];
}

/** The largest of each cut. */
function table(title: string, found: readonly Leak[]): string[] {
  const cuts = [...new Set(found.map(({ cut }) => cut))];
  const worst = cuts.map((cut) =>
    found.filter((leak) => leak.cut === cut).reduce((most, leak) => (leak.size > most.size ? leak : most)),
  );
  return worst.length === 0 ? [] : [`${title}, the largest of each cut:`, ...worst.map(line)];
}

function line({ cut, mode, magnitude, positions, size }: Leak): string {
  const replacement = magnitude === null ? mode : `${mode} × ${magnitude}`;
  return `  tokens after ${cut} replaced (${replacement}): outputs ${positions.join(", ")} moved by up to ${size.toPrecision(3)}`;
}

function isUsageError(error: unknown): error is Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return error instanceof Refusal || error instanceof AttentionError || code.startsWith("ERR_PARSE_ARGS");
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(isUsageError(error) ? `softlookup: ${error.message}` : error);
  if (isUsageError(error)) console.error("softlookup --help shows how it is called");
  process.exitCode = 2;
}
