import { masks } from "softlookup";
import type { Inputs } from "../../state/inputs.ts";
import { bitsOf } from "../figure.ts";
import { sequences } from "../sequence.ts";
import type { Order, Program, Run } from "./program.ts";

/** The sequence as it is and with its future replaced. */
export function leakProgram(step: string, inputs: Inputs): Program | undefined {
  const orders: Readonly<Record<string, Order | "none">> = {
    causal: "before",
    "no-mask": "none",
    "after-softmax": "after",
  };
  const order = orders[step];
  if (order === undefined) return undefined;
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
