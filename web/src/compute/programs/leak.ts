import { masks } from "softlookup";
import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { checkedAt } from "../leak.ts";
import { sequences } from "../sequence.ts";
import type { Input, Order, Program, Run } from "./program.ts";

/** Attention over the sequence as it is and with its future replaced. */
function experiment(order: Order | "none", inputs: Inputs): Program {
  const { length, dim: width } = inputs;
  const { original, replaced } = sequences(inputs);
  const bits = bitsOf(masks.causal(length));
  const run = (x: string): Run => ({
    kind: "attention",
    q: x,
    k: x,
    v: x,
    output: true,
    ...(order !== "none" && { mask: "mask", order }),
  });
  return {
    inputs: [
      { name: "x", shape: [length, width], numbers: original },
      { name: "replaced", shape: [length, width], numbers: replaced },
      ...(order === "none" ? [] : [{ name: "mask", shape: [length, length], bits } as const]),
    ],
    runs: [run("x"), run("replaced")],
  };
}

/** A gallery of every fault has no program: one of them closely does. */
export function leakProgram(step: string, inputs: Inputs): Program | undefined {
  const { length, dim: width, seed, cut, tokens: edits, future } = inputs;
  const drawn: readonly Input[] = [
    { name: "n", value: length },
    { name: "d", value: width },
    { name: "seed", value: seed },
  ];
  switch (step) {
    case "tokens":
      return { inputs: drawn, runs: [{ kind: "sequence", edits }] };
    case "replace":
      return { inputs: [...drawn, { name: "cut", value: cut }], runs: [{ kind: "sequence", edits, future }] };
    case "causal":
      return experiment("before", inputs);
    case "no-mask":
      return experiment("none", inputs);
    case "after-softmax":
      return experiment("after", inputs);
    case "check":
    case "others":
      return { inputs: drawn, runs: [{ kind: "leakCheck", edits, candidates: checkedAt(step, inputs) }] };
    default:
      return undefined;
  }
}
