import { AttentionError } from "./error.js";
import { requireKnown } from "./options.js";
import { scalar } from "./message.js";
import type { Raw, RawTensor } from "./raw.js";
import { toRawTensor } from "./tensor.js";
import type {
  CausalityOptions,
  CausalityReport,
  CheckCausality,
  Leak,
  ReplacementMode,
  SequenceInput,
  TensorLike,
} from "./types.js";

const allModes: readonly ReplacementMode[] = ["random", "large", "permuted", "nan"];
const largestSeed = 2 ** 31 - 1;
const optionNames = ["cuts", "modes", "magnitudes", "replace", "tolerance", "axis", "seed"];

/** One way of replacing tokens. */
interface Replacement {
  mode: ReplacementMode;
  magnitude: number | null;
}

/** The named tensors of an input; a single tensor goes by "input". */
type NamedTensors = ReadonlyMap<string, RawTensor>;

/** checkCausality over one instance of the core. */
export function checkCausalityOver(raw: Raw): CheckCausality {
  return async (fn, input, options = {}) => {
    requireKnown(options, optionNames);
    const check = new Check(raw, fn as (input: unknown) => unknown, input, options);
    return check.run();
  };
}

class Check {
  readonly #raw: Raw;
  readonly #fn: (input: unknown) => unknown;
  readonly #tensors: NamedTensors;
  readonly #single: boolean;
  readonly #replaced: readonly string[];
  readonly #axis: number;
  readonly #tolerance: number;
  readonly #length: number;
  readonly #cuts: readonly number[];
  readonly #replacements: readonly Replacement[];
  #seed: number;
  #calls = 0;

  constructor(raw: Raw, fn: (input: unknown) => unknown, input: SequenceInput, options: CausalityOptions) {
    if (typeof fn !== "function") {
      throw new AttentionError("FUNCTION", "fn must be a function of the input");
    }
    this.#raw = raw;
    this.#fn = fn;
    this.#single = isTensorLike(input);
    this.#tensors = namedTensors(input);
    const { cuts, modes = allModes, magnitudes = [1, 100, 10000] } = options;
    const { replace = [...this.#tensors.keys()], axis = -2, tolerance = 0, seed = 1 } = options;
    this.#replaced = listed(replace, "replace");
    this.#axis = axis;
    this.#tolerance = tolerance;
    this.#seed = seed;
    if (!Number.isInteger(this.#axis)) {
      throw new AttentionError("OPTION", "axis must be a whole number");
    }
    if (!Number.isFinite(this.#tolerance) || this.#tolerance < 0) {
      throw new AttentionError("OPTION", "tolerance must be a finite number, 0 or more");
    }
    if (!Number.isInteger(this.#seed) || this.#seed < 0 || this.#seed > largestSeed) {
      throw new AttentionError("OPTION", `seed must be a whole number, 0 to ${largestSeed}`);
    }
    this.#length = this.#sequenceLength();
    this.#cuts =
      cuts === undefined
        ? Array.from({ length: Math.max(0, this.#length - 1) }, (_, cut) => cut)
        : array(cuts, "cuts");
    for (const cut of this.#cuts) {
      if (!Number.isInteger(cut) || cut < 0 || cut >= this.#length) {
        throw new AttentionError("OPTION", `cuts: ${cut} is not a position of a sequence of ${this.#length}`);
      }
    }
    this.#replacements = replacements(listed(modes, "modes"), array(magnitudes, "magnitudes"));
  }

  async run(): Promise<CausalityReport> {
    const untouched = await this.#untouched();
    const found = [...(await this.#cutFutures(untouched))];
    const { influence, blind, leaks } = await this.#changeSingleTokens(untouched);
    for (const leak of leaks) {
      if (!found.some((other) => sameTrial(other, leak))) {
        found.push(leak);
      }
    }
    found.sort((a, b) => a.cut - b.cut);
    const finite = found.filter(({ mode }) => mode !== "nan");
    const poisonings = found.filter(({ mode }) => mode === "nan");
    return {
      causal: found.length === 0,
      verdict: finite.length > 0 ? "leak" : poisonings.length > 0 ? "nan-poisoning" : "causal",
      comparison: this.#tolerance === 0 ? "bitwise" : "tolerance",
      tolerance: this.#tolerance,
      length: this.#length,
      firstCut: found[0]?.cut ?? null,
      leaks: finite,
      poisonings,
      influence,
      blind,
      calls: this.#calls,
    };
  }

  /** The output for the input as it is; called twice, since a function that wavers cannot be checked. */
  async #untouched(): Promise<RawTensor> {
    const first = await this.#call(this.#tensors);
    const second = await this.#call(this.#tensors);
    if (this.#moves(first, second).moved.some(Boolean)) {
      throw new AttentionError(
        "FUNCTION",
        `fn gives different outputs for the same input (tolerance ${this.#tolerance}): no difference could be blamed on the future`,
      );
    }
    return first;
  }

  /** Every cut, every replacement of all that comes after it. */
  async #cutFutures(untouched: RawTensor): Promise<Leak[]> {
    const leaks: Leak[] = [];
    for (const cut of this.#cuts) {
      if (cut === this.#length - 1) {
        continue; // nothing comes after it
      }
      for (const replacement of this.#replacements) {
        const output = await this.#call(this.#replace(cut + 1, this.#length, replacement));
        const { moved, distance } = this.#moves(untouched, output);
        const leak = leakBefore(cut, replacement, moved, distance);
        if (leak) {
          leaks.push(leak);
        }
      }
    }
    return leaks;
  }

  /** One token at a time: which outputs does it reach? */
  async #changeSingleTokens(untouched: RawTensor) {
    const n = this.#length;
    const data = new Float32Array(n * n);
    const leaks: Leak[] = [];
    const blind: number[] = [];
    const singles = this.#replacements.filter(({ mode }) => mode === "random" || mode === "large");
    for (let token = 0; token < n; token++) {
      let sawItself = false;
      for (const replacement of singles) {
        const output = await this.#call(this.#replace(token, token + 1, replacement));
        const { moved, distance } = this.#moves(untouched, output);
        moved.forEach((hasMoved, position) => {
          if (hasMoved) {
            const at = token * n + position;
            // a changed sign of zero is a move of distance 0; the smallest float32 keeps it visible
            data[at] = Math.max(data[at] ?? 0, distance[position] ?? 0, 2 ** -149);
          }
        });
        sawItself ||= moved[token] === true;
        const leak = token > 0 ? leakBefore(token - 1, replacement, moved, distance) : undefined;
        if (leak) {
          leaks.push(leak);
        }
      }
      if (singles.length > 0 && !sawItself) {
        blind.push(token);
      }
    }
    return { influence: { data, shape: [n, n] }, blind, leaks };
  }

  #replace(first: number, end: number, { mode, magnitude }: Replacement): NamedTensors {
    const changed = new Map(this.#tensors);
    for (const name of this.#replaced) {
      const tensor = this.#tensors.get(name);
      if (tensor) {
        this.#seed = (this.#seed + 1) % largestSeed;
        changed.set(
          name,
          this.#raw.replaceSequenceTokens(
            tensor,
            this.#axis,
            [first, end],
            scalar(mode),
            magnitude ?? 0,
            this.#seed,
          ),
        );
      }
    }
    return changed;
  }

  async #call(tensors: NamedTensors): Promise<RawTensor> {
    this.#calls += 1;
    const copies = [...tensors].map(([name, tensor]) => [name, copyOf(tensor)] as const);
    const result: unknown = await this.#fn(this.#single ? copies[0]?.[1] : Object.fromEntries(copies));
    const output = toOutput(result);
    if (output.shape.at(this.#axis) !== this.#length) {
      throw new AttentionError(
        "FUNCTION",
        `fn returned [${output.shape.join(", ")}]: axis ${this.#axis} does not have the ${this.#length} positions of the input`,
      );
    }
    return copyOf(output);
  }

  #moves(before: RawTensor, after: RawTensor) {
    return this.#raw.compareSequences(before, after, this.#axis, this.#tolerance);
  }

  #sequenceLength(): number {
    const lengths = this.#replaced.map((name) => {
      const tensor = this.#tensors.get(name);
      const length = tensor?.shape.at(this.#axis);
      if (!tensor || length === undefined) {
        throw new AttentionError("OPTION", `replace: "${name}" is not an input with an axis ${this.#axis}`);
      }
      return length;
    });
    const [first] = lengths;
    if (first === undefined || lengths.some((length) => length !== first)) {
      throw new AttentionError("SHAPE", `the sequences have different lengths: ${lengths.join(", ")}`);
    }
    return first;
  }
}

function leakBefore(
  cut: number,
  { mode, magnitude }: Replacement,
  moved: readonly boolean[],
  distance: readonly number[],
): Leak | undefined {
  const positions = [...moved.keys()].filter((position) => position <= cut && moved[position]);
  if (positions.length === 0) {
    return undefined;
  }
  const size = Math.max(...positions.map((position) => distance[position] ?? 0));
  return { cut, mode, magnitude, positions, size };
}

function sameTrial(a: Leak, b: Leak): boolean {
  return a.cut === b.cut && a.mode === b.mode && a.magnitude === b.magnitude;
}

function array<Element>(value: readonly Element[], name: string): readonly Element[] {
  if (!Array.isArray(value)) {
    throw new AttentionError("OPTION", `${name} must be an array`);
  }
  return value;
}

/** An array that says what to do: an empty one would find nothing and call that causal. */
function listed<Element>(value: readonly Element[], name: string): readonly Element[] {
  if (array(value, name).length === 0) {
    throw new AttentionError("OPTION", `${name} must not be empty`);
  }
  return value;
}

function replacements(modes: readonly ReplacementMode[], magnitudes: readonly number[]): Replacement[] {
  for (const magnitude of magnitudes) {
    // 0 replaces a token by itself, and beyond float32 it is what only "nan" may put there
    if (
      typeof magnitude !== "number" ||
      !(Math.fround(Math.abs(magnitude)) > 0 && Number.isFinite(Math.fround(magnitude)))
    ) {
      throw new AttentionError("OPTION", `magnitudes: ${magnitude} is not a finite float32 other than 0`);
    }
  }
  if (magnitudes.length === 0 && (modes.includes("random") || modes.includes("large"))) {
    throw new AttentionError("OPTION", "magnitudes must not be empty for random and large");
  }
  for (const mode of modes) {
    if (!allModes.includes(mode)) {
      throw new AttentionError("OPTION", `modes: "${mode}" is not one of ${allModes.join(", ")}`);
    }
  }
  return modes.flatMap((mode): Replacement[] => {
    switch (mode) {
      case "random":
        return magnitudes.map((magnitude) => ({ mode, magnitude }));
      case "large":
        return magnitudes.flatMap((magnitude) => [
          { mode, magnitude },
          { mode, magnitude: -magnitude },
        ]);
      case "permuted":
      case "nan":
        return [{ mode, magnitude: null }];
    }
  });
}

function isTensorLike(input: SequenceInput): input is TensorLike {
  return (
    typeof input !== "object" ||
    (input as unknown) === null ||
    Array.isArray(input) ||
    ArrayBuffer.isView(input) ||
    ("data" in input && ("shape" in input || "dims" in input))
  );
}

function namedTensors(input: SequenceInput): NamedTensors {
  const named = isTensorLike(input) ? { input } : input;
  const entries = Object.entries(named);
  if (entries.length === 0) {
    throw new AttentionError("DTYPE", "input: expected a tensor or an object of tensors");
  }
  return new Map(entries.map(([name, value]) => [name, copyOf(toRawTensor(value as TensorLike, name))]));
}

/** The caller and fn may write into what they hold at any time. */
function copyOf({ data, shape }: RawTensor): RawTensor {
  return { data: data.slice(), shape: [...shape] };
}

function toOutput(result: unknown): RawTensor {
  const output = typeof result === "object" && result !== null && "output" in result ? result.output : result;
  try {
    return toRawTensor(output as TensorLike, "output");
  } catch (cause) {
    throw new AttentionError("FUNCTION", "fn returned neither a tensor nor an object with `output`", {
      cause,
    });
  }
}
