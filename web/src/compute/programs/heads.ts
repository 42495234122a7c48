import type { Inputs } from "../../state/inputs.ts";
import { headsInputs } from "../heads.ts";
import type { Input, Program } from "./program.ts";

/** The layer's tokens and matrices as the page has them; steps that only count have no program. */
export function headsProgram(step: string, inputs: Inputs): Program | undefined {
  if (step === "shapes" || step === "parameters") return undefined;
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
