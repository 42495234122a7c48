import type { Run } from "../../compute/programs/program.ts";
import { list, pythonCounts, pythonQuietSoftmax, pythonRandom, pythonShow, type Writer } from "./dialect.ts";

type Of<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

export const drawsWriter: Writer<Of<"draws">> = {
  helpers: (_, dialect) => [pythonRandom(dialect), pythonShow],
  python: ({ widths, pairs, seed }, { axis, join, lib }) => `widths = ${list(widths)}
rows = []
for d in widths:
    q, k = random_normal(${String(seed)}, ${String(pairs)}, d), random_normal(${String(seed + 1)}, ${String(pairs)}, d)
    rows.append((q * k).sum(${axis(-1)})[None])
show("draws", ${join}(rows))
show("deviation", ${lib === "np" ? "np.array" : "torch.tensor"}(widths)[:, None] ** 0.5)`,
  javaScript: ({ widths, pairs, seed }) => `const widths = ${list(widths)};
const dots = widths.map((d) => {
  const [q, k] = [${String(seed)}, ${String(seed + 1)}].map((seed) => randomNormal([${String(pairs)}, 1, d], seed));
  return scaledDotProductAttention.trace(q, k, k).steps[0].tensor.data;
});
const deviation = widths.map((d) => dotProductMoments(d, 2).standardDeviation);
show([
  { id: "draws", tensor: { data: dots.flatMap((row) => [...row]), shape: [widths.length, ${String(pairs)}] } },
  { id: "deviation", tensor: { data: deviation, shape: [widths.length, 1] } },
]);`,
};

export const varianceWriter: Writer<Of<"variance">> = {
  helpers: (_, dialect) => [pythonRandom(dialect), pythonCounts],
  python: ({ widths, pairs, seed }, { axis }) => `widths, pairs = ${list(widths)}, ${String(pairs)}
products = random_normal(${String(seed)}, pairs * widths[-1]) * random_normal(${String(seed + 1)}, pairs * widths[-1])


def variance(numbers):
    return ((numbers - numbers.mean()) ** 2).mean().item()


rows = []
for d in widths:
    dots = products[: pairs * d].reshape(pairs, d).sum(${axis(1)})  # of the first numbers drawn
    rows.append([d, variance(dots), 1, variance(dots / d**0.5)])  # theory: d, and 1
show("variance", rows)`,
  javaScript: ({ widths, pairs, seed }) => `console.log("variance");
for (const d of ${list(widths)}) {
  const [q, k] = [${String(seed)}, ${String(seed + 1)}].map((seed) => randomNormal([${String(pairs)}, 1, d], seed));
  const { steps } = scaledDotProductAttention.trace(q, k, k);
  const [dots, scaled] = steps.map(({ tensor }) => moments(tensor).variance);
  const theory = dotProductMoments(d, ${String(pairs)});
  console.log(theory.variance, dots, theory.varianceScaled, scaled);
}`,
};

export const saturationWriter: Writer<Of<"saturation">> = {
  helpers: (_, dialect) => [pythonRandom(dialect), pythonQuietSoftmax(dialect), pythonCounts],
  python: ({ widths, queries, seed }, { lib, axis, max }) => `entropy, largest = [], []
for d in ${list(widths)}:
    q, k = random_normal(${String(seed)}, ${String(queries)}, d), random_normal(${String(seed + 1)}, keys, d)
    dots = q @ k.T
    both = [softmax(dots / d**0.5), softmax(dots)]
    bits = [-w * ${lib}.log2(${lib}.where(w > 0, w, w * 0 + 1)) for w in both]
    entropy.append([b.sum(${axis(1)}).mean().item() for b in bits])
    largest.append([w.${max}(${axis(1)}).mean().item() for w in both])
show("entropy", entropy)
show("largest", largest)`,
  javaScript: ({ widths, queries, seed }) => `/** Mean entropy and mean largest weight of the rows. */
function sharpness(q, k, options) {
  const { steps } = scaledDotProductAttention.trace(q, k, k, options);
  const weights = steps.find(({ id }) => id === "weights").tensor;
  const largest = Float32Array.from({ length: ${String(queries)} }, (_, i) =>
    Math.max(...weights.data.slice(i * keys, (i + 1) * keys)),
  );
  return { entropy: moments(rowEntropies(weights)).mean, largest: moments(largest).mean };
}

const found = ${list(widths)}.map((d) => {
  const [q, k] = [randomNormal([${String(queries)}, d], ${String(seed)}), randomNormal([keys, d], ${String(seed + 1)})];
  return [sharpness(q, k), sharpness(q, k, { scale: 1 })];
});
for (const id of ["entropy", "largest"]) {
  console.log(id);
  for (const [scaled, unscaled] of found) console.log(scaled[id], unscaled[id]);
}`,
};
