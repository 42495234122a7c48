import type { CausalityReport } from "softlookup";
import { check } from "../compute/sequence.ts";
import type { CandidateName } from "../content/faults.ts";
import type { Inputs } from "../state/inputs.ts";

export interface Checked {
  name: CandidateName;
  report: CausalityReport;
}

/** The whole leak check of one candidate after the other. */
export async function* leakChecks(input: {
  names: readonly CandidateName[];
  inputs: Inputs;
}): AsyncGenerator<Checked> {
  for (const name of input.names) yield { name, report: await check(name, input.inputs) };
}
