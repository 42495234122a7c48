import type { Run } from "../../compute/programs/program.ts";
import type { CandidateName } from "../../content/faults.ts";
import type { Edit } from "../../state/codec.ts";
import { type Dialect, pythonQuietSoftmax, pythonRandom, pythonShow, type Writer } from "./dialect.ts";

type Of<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

const pythonEdits = (name: string, edits: readonly Edit[]) =>
  edits.map(({ row, col, value }) => `${name}[${String(row)}, ${String(col)}] = ${String(value)}\n`).join("");

const javaScriptEdits = (name: string, edits: readonly Edit[]) =>
  edits
    .map(({ row, col, value }) => `${name}[${String(row)} * d + ${String(col)}] = ${String(value)};\n`)
    .join("");

/** x [n, d], and where it is needed another sequence from the same draw. */
const pythonSequence = (edits: readonly Edit[], another: boolean) =>
  `${another ? "x, other = random_normal(seed, 2, n, d)" : "x = random_normal(seed, n, d)"}
${pythonEdits("x", edits)}`;

const javaScriptSequence = (edits: readonly Edit[], another: boolean) =>
  `${
    another
      ? `const { data } = randomNormal([2, n, d], seed);
const [x, other] = [data.slice(0, n * d), data.slice(n * d)];`
      : "const { data: x } = randomNormal([n, d], seed);"
  }
${javaScriptEdits("x", edits)}`;

export const sequenceWriter: Writer<Of<"sequence">> = {
  helpers: (_, dialect) => [pythonRandom(dialect), pythonShow],
  python: ({ edits, future }, { join }) =>
    `${pythonSequence(edits, future !== undefined)}show("x", x)${
      future
        ? `
replaced = ${join}([x[: cut + 1], other[cut + 1 :]])
${pythonEdits("replaced", future)}show("replaced", replaced)`
        : ""
    }`,
  javaScript: ({ edits, future }) =>
    `${javaScriptSequence(edits, future !== undefined)}show([{ id: "x", tensor: { data: x, shape: [n, d] } }]);${
      future
        ? `
const kept = (cut + 1) * d;
const replaced = Float32Array.of(...x.slice(0, kept), ...other.slice(kept));
${javaScriptEdits("replaced", future)}show([{ id: "replaced", tensor: { data: replaced, shape: [n, d] } }]);`
        : ""
    }`,
};

const pythonAttention = ({ lib, hide }: Dialect) => `def scaled(x):
    return x @ x.swapaxes(1, 2) / x.shape[-1] ** 0.5


def blend(weights, mask, x):  # 0 times NaN is NaN: hidden keys are left out
    return ${lib}.where(mask[..., None], weights[..., None] * x[:, None], 0).sum(2)


def attention(x, mask):
    scores = scaled(x)
    return blend(softmax(${hide}), mask, x)`;

const pythonCheck = ({ lib, join, axis, max }: Dialect) => `def replace(tokens, mode, size, seed):
    if mode == "random":
        return random_normal(seed, *tokens.shape) * size
    if mode == "large":
        return tokens + size
    if mode == "permuted":
        return ${lib}.roll(tokens, 1, 1)
    return tokens * math.nan


def check(attend):
    print(attend.__name__)
    untouched, seed = attend(x), 1
    leaks, influence = ${lib}.zeros(n - 1), ${lib}.zeros((n, n))

    def moves(first, end, how):  # how far each output moves
        nonlocal seed
        seed += 1
        tokens = replace(x[:, first:end], *how, seed)
        output = attend(${join}([x[:, :first], tokens, x[:, end:]], ${axis(1)}))
        if (output != untouched)[:, :first].any():
            leaks[first - 1] = 1
        return abs(output - untouched).${max}(${axis(0)}).${max}(${axis(1)})

    sized = [("random", size) for size in (1, 100, 10000)]
    sized += [("large", size) for size in (1, -1, 100, -100, 10000, -10000)]
    for cut in range(n - 1):  # the whole future
        for how in (*sized, ("permuted", None), ("nan", None)):
            moves(cut + 1, n, how)
    for token in range(n):  # one token
        for how in sized:
            influence[token] = ${lib}.maximum(influence[token], moves(token, token + 1, how))
    show("leaks", leaks)
    show("influence", influence)`;

/** What each candidate does to x [B, n, d]. */
const pythonCandidates: Readonly<Record<CandidateName, (dialect: Dialect) => string>> = {
  causal: () => "return attention(x, key <= query)",
  "no-mask": () => "return attention(x, key < n)",
  "mask-after-softmax": () => "return blend(softmax(scaled(x)), key <= query, x)",
  "diagonal-plus-one": () => "return attention(x, key <= query + 1)",
  "diagonal-minus-one": () => "return attention(x, key < query)",
  "transposed-mask": () => "return attention(x, key >= query)",
  "finite-sentinel": () => `scores = scaled(x)
    scores[:, key > query] -= 10000
    return blend(softmax(scores), key < n, x)`,
  "block-leak": () => "return attention(x, key // 4 <= query // 4)",
  "tile-leak": () => "return attention(x, (key <= query) | (key // 4 > query // 4))",
  "cache-drops-mask": ({ lib }) =>
    `return attention(x, ${lib}.where(query < 4, key <= query, key // 4 <= query // 4))`,
  "chunk-ignores-past": ({ lib }) =>
    `return attention(x, ${lib}.where(key < 4, key <= query % 4, key // 4 <= query // 4))`,
  "sequence-mean": () => `output = attention(x, key <= query)
    return output - output.mean(1)[:, None]`,
  "one-head-unmasked": ({ join, axis }) => `heads = x[..., : d // 2], x[..., d // 2 :]
    return ${join}([attention(heads[0], key <= query), attention(heads[1], key < n)], ${axis(2)})`,
  "one-batch-row-unmasked": ({ join }) =>
    `return ${join}([attention(x[:1], key <= query), attention(x[1:], key < n)])`,
};

const javaScriptCandidate = (name: CandidateName) => {
  if (name === "causal") return "(x) => scaledDotProductAttention(x, x, x, { causal: true })";
  if (name !== "one-head-unmasked") return `(x) => faultyAttention("${name}", x, x, x)`;
  return `(x) => {
    const heads = splitHeads(x, 2);
    return mergeHeads(faultyAttention("${name}", heads, heads, heads));
  }`;
};

const idOf = (name: CandidateName) => name.replaceAll("-", "_");

/** One fault takes two sequences in a batch. */
const isBatched = (candidates: readonly CandidateName[]) => candidates.includes("one-batch-row-unmasked");

export const leakCheckWriter: Writer<Of<"leakCheck">> = {
  helpers: (_, dialect) => [
    pythonRandom(dialect),
    pythonShow,
    pythonQuietSoftmax(dialect),
    pythonAttention(dialect),
    pythonCheck(dialect),
  ],
  python({ edits, candidates }, dialect) {
    const { lib } = dialect;
    const batched = isBatched(candidates);
    const functions = candidates.map((name) => {
      const id = idOf(name);
      return `def ${id}(x):\n    ${pythonCandidates[name](dialect)}\n\n\ncheck(${id})`;
    });
    return `${pythonSequence(edits, batched)}x = ${batched ? `${lib}.stack([other, x])` : "x[None]"}
query, key = ${lib}.arange(n)[:, None], ${lib}.arange(n)[None]


${functions.join("\n\n\n")}`;
  },
  javaScript({ edits, candidates }) {
    const batched = isBatched(candidates);
    const input = batched
      ? "{ data: Float32Array.of(...other, ...x), shape: [2, 1, n, d] }"
      : "{ data: x, shape: [1, n, d] }";
    const functions = candidates.map((name) => `  ${idOf(name)}: ${javaScriptCandidate(name)},\n`);
    return `${javaScriptSequence(edits, batched)}const input = ${input};
const candidates = {
${functions.join("")}};
for (const [name, attend] of Object.entries(candidates)) {
  const { leaks, poisonings, influence } = await checkCausality(attend, input);
  const leaking = [...leaks, ...poisonings].map(({ cut }) => cut);
  const byCut = Array.from({ length: n - 1 }, (_, cut) => Number(leaking.includes(cut)));
  console.log(name);
  show([
    { id: "leaks", tensor: { data: byCut, shape: [n - 1] } },
    { id: "influence", tensor: influence },
  ]);
}`;
  },
};
