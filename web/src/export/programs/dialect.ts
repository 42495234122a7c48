import type { Size } from "../../compute/programs/program.ts";

/** Where the two Python libraries differ. */
export interface Dialect {
  lib: "np" | "torch";
  module: string;
  array: (rows: string, bits: boolean) => string;
  float: string;
  /** Along one axis. */
  axis: (axis: number) => string;
  along: string;
  max: string;
  hide: string;
  join: string;
  /** Every slice along an axis several times in a row. */
  repeat: (x: string, times: string, axis: number) => string;
  /** [size, size], true up to the diagonal; `past` columns more on the left. */
  triangle: string;
}

const along = (axis: string, keep: string) => `${axis}=-1, ${keep}=True`;

export const dialects: Readonly<Record<"NumPy" | "PyTorch", Dialect>> = {
  NumPy: {
    lib: "np",
    module: "import numpy as np",
    array: (rows, bits) => `np.array(${rows}, dtype=${bits ? "bool" : "np.float32"})`,
    float: "np.float32",
    axis: (axis) => `axis=${String(axis)}`,
    along: along("axis", "keepdims"),
    max: "max",
    hide: "np.where(mask, scores, np.float32(-np.inf))",
    join: "np.concatenate",
    repeat: (x, times, axis) => `${x}.repeat(${times}, axis=${String(axis)})`,
    triangle: "np.ones((n, past + n), dtype=bool)",
  },
  PyTorch: {
    lib: "torch",
    module: "import torch",
    array: (rows, bits) => `torch.tensor(${rows}, dtype=${bits ? "torch.bool" : "torch.float32"})`,
    float: "torch.float32",
    axis: (axis) => `dim=${String(axis)}`,
    along: along("dim", "keepdim"),
    max: "amax",
    hide: 'scores.masked_fill(~mask, float("-inf"))',
    join: "torch.cat",
    repeat: (x, times, axis) => `${x}.repeat_interleave(${times}, dim=${String(axis)})`,
    triangle: "torch.ones(n, past + n, dtype=torch.bool)",
  },
};

/** How one kind of run is written. */
export interface Writer<Run> {
  /** Functions that the text below calls, each after those that it calls itself. */
  helpers: (run: Run, dialect: Dialect) => readonly string[];
  python: (run: Run, dialect: Dialect) => string;
  javaScript: (run: Run) => string;
}

/** Rows that need no more than to be printed. */
export const pythonCounts = `def show(name, rows):
    print(name)
    for row in rows:
        print(*row)`;

/** A list as both languages write it. */
export const list = (sizes: readonly Size[]): string =>
  `[${sizes.map((size) => (typeof size === "number" ? String(size) : list(size))).join(", ")}]`;

export const pythonShow = `def show(name, rows):
    print(name)
    for row in rows.reshape(-1, rows.shape[-1]).tolist():
        print(*(f"{number:.9g}" for number in row))`;

export const pythonSoftmax = ({ lib, along, max }: Dialect) => `def softmax(scores):
    row_max = scores.${max}(${along})
    show("rowMax", row_max)
    row_max[row_max == -float("inf")] = 0  # a row with no key left
    exp = ${lib}.exp(scores - row_max)
    show("exp", exp)
    row_sum = exp.sum(${along})
    show("rowSum", row_sum)
    row_sum[row_sum == 0] = 1
    return exp / row_sum`;

/** Without its passes. */
export const pythonQuietSoftmax = (dialect: Dialect) => pythonSoftmax(dialect).replace(/^ +show\(.*\n/gm, "");

export const pythonMaskFirst = ({ hide }: Dialect) => `def mask_then_softmax(scores, mask):
    masked = ${hide}
    show("masked", masked)
    weights = softmax(masked)
    show("weights", weights)
    return weights`;

/** The package's randomNormal, by Python's own Mersenne twister. */
export const pythonRandom = ({ array }: Dialect) => `def random_normal(seed, *shape):
    words = [seed]  # the twister's first state
    while len(words) < 624:
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + len(words)) % 2**32)
    twister = random.Random()
    twister.setstate((3, (*words, 624), None))

    def uniform():
        return (twister.getrandbits(32) + 0.5) / 2**32

    def draw():  # Box and Muller
        return math.sqrt(-2 * math.log(uniform())) * math.cos(2 * math.pi * uniform())

    return ${array("[draw() for _ in range(math.prod(shape))]", false)}.reshape(shape)`;
