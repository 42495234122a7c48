import type { CausalityReport } from "softlookup";
import { check } from "../compute/sequence.ts";
import type { Fault } from "../content/faults.ts";
import type { Inputs } from "../state/inputs.ts";

export interface Checked {
  name: Fault;
  report: CausalityReport;
}

/** The whole leak check of one fault after the other. */
export async function* leakChecks(input: {
  names: readonly Fault[];
  inputs: Inputs;
}): AsyncGenerator<Checked> {
  for (const name of input.names) yield { name, report: await check(name, input.inputs) };
}
