import type { Inputs } from "../../state/inputs.ts";
import { headsInputs, parameterSizes } from "../heads.ts";
import type { Input, Program } from "./program.ts";

/** The layer's tokens and matrices as the page has them. */
function layer(step: string, inputs: Inputs): Program {
  const { headsLength, headsDim, headsCount, headsSilent } = inputs;
  const { x, matrices } = headsInputs(inputs);
  const square = (name: string, { data }: { data: ArrayLike<number> }): Input => ({
    name,
    shape: [headsDim, headsDim],
    numbers: Array.from(data),
  });
  const besides = (["silence", "loop", "view"] as const).find((other) => other === step);
  return {
    inputs: [
      { name: "x", shape: [headsLength, headsDim], numbers: x },
      square("wq", matrices.query),
      square("wk", matrices.key),
      square("wv", matrices.value),
      square("wo", matrices.output),
      { name: "H", value: headsCount },
      ...(besides === "silence" ? [{ name: "silent", value: headsSilent }] : []),
    ],
    runs: [{ kind: "heads", ...(besides && { besides }) }],
  };
}

export function headsProgram(step: string, inputs: Inputs): Program {
  if (step === "parameters") {
    return { inputs: [], runs: [{ kind: "parameters", sizes: parameterSizes(inputs) }] };
  }
  if (step !== "shapes") return layer(step, inputs);
  const { shapeBatch, shapeLength, shapeDim, shapeHeads } = inputs;
  return {
    inputs: [
      { name: "B", value: shapeBatch },
      { name: "n", value: shapeLength },
      { name: "d", value: shapeDim },
      { name: "H", value: shapeHeads },
    ],
    runs: [{ kind: "shapes" }],
  };
}
