import { AttentionError } from "./error.js";
import type { Raw } from "./raw.js";
import type { ReadSafetensors, SafetensorsFile, Tensor } from "./types.js";

// https://github.com/huggingface/safetensors#format: 8 bytes with the length of the header, the header in
// JSON, the tensors. The readers on npm trust the header; this one checks it as the format's own one does.

const longestHeader = 100_000_000;

/** Bits of an element. All of the format's types, for the sizes must fit whether or not a tensor is asked for. */
const bitsOf = new Map([
  ...["BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"].map(bits(8)),
  ...["I16", "U16", "F16", "BF16"].map(bits(16)),
  ...["I32", "U32", "F32"].map(bits(32)),
  ...["I64", "U64", "F64", "C64"].map(bits(64)),
  ...["F6_E2M3", "F6_E3M2"].map(bits(6)),
  ...["F4"].map(bits(4)),
]);

/** Halves are widened in pieces, which keeps the WebAssembly memory small. */
const pieceOfHalves = 1 << 20;

interface Entry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export function readSafetensorsOver(raw: Raw): ReadSafetensors {
  return (input) => {
    const bytes = bytesOf(input);
    const header = readHeader(bytes);
    const data = bytes.subarray(header.end);
    const entries = new Map(checkedEntries(header.json, data.length).map((entry) => [entry.name, entry]));

    const tensor: SafetensorsFile["tensor"] = (name) => {
      const entry = entries.get(name);
      if (entry === undefined) {
        throw new AttentionError(
          "STATE_DICT",
          `safetensors: there is no tensor "${name}" among ${entries.size}`,
        );
      }
      return readTensor(raw, entry, data);
    };
    return {
      names: [...entries.keys()],
      metadata: checkedMetadata(header.json),
      tensor,
      tensors: (prefix = "") => {
        if (typeof prefix !== "string") {
          throw new AttentionError("OPTION", "safetensors: prefix must be text");
        }
        return Object.fromEntries(
          [...entries.keys()]
            .filter((name) => name.startsWith(prefix))
            .map((name) => [name.slice(prefix.length), tensor(name)]),
        );
      },
    };
  };
}

function bits(count: number): (dtype: string) => [string, number] {
  return (dtype) => [dtype, count];
}

function refusal(message: string, cause?: unknown): AttentionError {
  return new AttentionError("FORMAT", `safetensors: ${message}`, { cause });
}

/** Plain bytes over the same memory: a Node Buffer's methods differ, and a detached buffer has none. */
function bytesOf(input: unknown): Uint8Array {
  const kind = Object.prototype.toString.call(input).slice("[object ".length, -1);
  if (kind !== "Uint8Array" && kind !== "ArrayBuffer") {
    throw new AttentionError("DTYPE", `safetensors: expected a Uint8Array or an ArrayBuffer, not ${kind}`);
  }
  const { byteLength } = input as Uint8Array | ArrayBuffer;
  if (byteLength === 0) {
    return new Uint8Array();
  }
  return kind === "ArrayBuffer"
    ? new Uint8Array(input as ArrayBuffer)
    : new Uint8Array((input as Uint8Array).buffer, (input as Uint8Array).byteOffset, byteLength);
}

function readHeader(bytes: Uint8Array): { json: Record<string, unknown>; end: number } {
  if (bytes.length < 8) {
    throw refusal(`${bytes.length} bytes are too few; the length of the header alone takes 8`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  const length = view.getUint32(4, true) * 2 ** 32 + view.getUint32(0, true);
  if (length > longestHeader) {
    throw refusal(`a header of ${length} bytes is longer than ${longestHeader}`);
  }
  const end = 8 + length;
  if (end > bytes.length) {
    throw refusal(`a header of ${length} bytes ends after the ${bytes.length} bytes given`);
  }
  return { json: parseHeader(bytes.slice(8, end)), end };
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw refusal("the header is not UTF-8", cause);
  }
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw refusal("the header is not JSON", cause);
  }
  if (!text.startsWith("{")) {
    throw refusal("the header is not a JSON object, or does not begin with it");
  }
  const repeated = repeatedName(text);
  if (repeated !== undefined) {
    throw refusal(`the header has "${repeated}" twice`);
  }
  return json as Record<string, unknown>;
}

/** A name that one object of valid JSON has twice. JSON.parse silently takes the last. */
function repeatedName(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = []; // the names of every object around, undefined for an array
  let isName = false; // of the next string
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case "{":
        open.push(new Set());
        isName = true;
        break;
      case "[":
        open.push(undefined);
        isName = false;
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        isName = open.at(-1) !== undefined;
        break;
      case ":":
        isName = false;
        break;
      case '"': {
        const begin = i;
        for (i++; json[i] !== '"'; i++) {
          i += json[i] === "\\" ? 1 : 0;
        }
        const names = open.at(-1);
        if (isName && names !== undefined) {
          const name = JSON.parse(json.slice(begin, i + 1)) as string;
          if (names.has(name)) {
            return name;
          }
          names.add(name);
        }
      }
    }
  }
  return undefined;
}

function checkedMetadata(header: Record<string, unknown>): Record<string, string> {
  if (!Object.hasOwn(header, "__metadata__")) {
    return {};
  }
  const metadata = header["__metadata__"];
  if (!isObject(metadata) || !Object.values(metadata).every((value) => typeof value === "string")) {
    throw refusal("__metadata__ must be an object of strings");
  }
  return metadata as Record<string, string>;
}

/** In the order of their bytes, which they fill without a gap. */
function checkedEntries(header: Record<string, unknown>, available: number): Entry[] {
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, entry]) => checkedEntry(name, entry, available))
    .sort((a, b) => a.begin - b.begin || a.end - b.end);
  let end = 0;
  let before = "the header";
  for (const entry of entries) {
    if (entry.begin !== end) {
      const how = entry.begin < end ? "overlaps" : "leaves a hole after";
      throw refusal(
        `tensor "${entry.name}" begins at ${entry.begin} and ${how} ${before}, which ends at ${end}`,
      );
    }
    end = entry.end;
    before = `"${entry.name}"`;
  }
  if (end !== available) {
    throw refusal(`${available - end} bytes follow ${before}, which ends at ${end} of ${available}`);
  }
  return entries;
}

function checkedEntry(name: string, entry: unknown, available: number): Entry {
  const refuse = (message: string): AttentionError => refusal(`tensor "${name}": ${message}`);
  if (!isObject(entry)) {
    throw refuse("expected an object with dtype, shape and data_offsets");
  }
  const { dtype, shape, data_offsets: offsets } = entry;
  const bits = typeof dtype === "string" ? bitsOf.get(dtype) : undefined;
  if (typeof dtype !== "string" || bits === undefined) {
    throw refuse(`unknown dtype ${JSON.stringify(dtype)}`);
  }
  if (!isSizes(shape)) {
    throw refuse(`shape ${JSON.stringify(shape)} must be an array of whole numbers, 0 or more`);
  }
  if (!isSizes(offsets) || offsets.length !== 2) {
    throw refuse(`data_offsets ${JSON.stringify(offsets)} must be two whole numbers, 0 or more`);
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end || end > available) {
    throw refuse(`data_offsets [${begin}, ${end}] do not lie in the ${available} bytes of data`);
  }
  let size = bits;
  for (const length of shape) {
    size *= length;
    if (!Number.isSafeInteger(size)) {
      throw refuse(`shape [${shape.join(", ")}] has too many elements to count`);
    }
  }
  if (size !== 8 * (end - begin)) {
    throw refuse(`${end - begin} bytes do not fill ${dtype} [${shape.join(", ")}]`);
  }
  return { name, dtype, shape, begin, end };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0 && !Object.is(size, -0))
  );
}

function readTensor(raw: Raw, { name, dtype, shape, begin, end }: Entry, data: Uint8Array): Tensor {
  if (data.length < end) {
    throw new AttentionError("DTYPE", `safetensors: tensor "${name}": the bytes of the file were detached`);
  }
  const stored = begin === end ? new Uint8Array() : data.subarray(begin, end);
  switch (dtype) {
    case "F32":
      return { data: new Float32Array(stored.slice().buffer), shape: [...shape] };
    case "F16":
    case "BF16": {
      const wide = new Float32Array(stored.length / 2);
      for (let i = 0; i < stored.length; i += pieceOfHalves) {
        wide.set(raw.widenHalves(stored.subarray(i, i + pieceOfHalves), dtype), i / 2);
      }
      return { data: wide, shape: [...shape] };
    }
    default:
      throw new AttentionError(
        "DTYPE",
        `safetensors: tensor "${name}" is ${dtype}; F32, F16 and BF16 are read`,
      );
  }
}
