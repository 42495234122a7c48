import { type Fault, faults } from "../../content/faults.ts";
import { choice, type Edit, edits, field, integer, type Range } from "../codec.ts";

/** The head dimension is even, so that it splits into two heads. */
export const leakRanges = {
  length: [3, 10],
  dim: [2, 8, 2],
  seed: [0, 9999],
} as const satisfies Record<string, Range>;

/** The sequence of the leak check. */
export const leakFields = {
  length: field(6, integer(leakRanges.length)),
  dim: field(4, integer(leakRanges.dim)),
  seed: field(5, integer(leakRanges.seed)),
  /** Tokens after it are replaced. */
  cut: field(2, integer([0, leakRanges.length[1]])),
  tokens: field<readonly Edit[]>([], edits),
  future: field<readonly Edit[]>([], edits),
  fault: field<Fault>("diagonal-plus-one", choice(faults)),
};

interface Sequence {
  length: number;
  dim: number;
  cut: number;
  tokens: readonly Edit[];
  future: readonly Edit[];
}

/** Takes away what no longer fits after the size of the sequence has changed. */
export function fitSequence<Inputs extends Sequence>(inputs: Inputs): Inputs {
  const cut = Math.min(inputs.cut, inputs.length - 2);
  const fits = ({ row, col }: Edit) => row < inputs.length && col < inputs.dim;
  return {
    ...inputs,
    cut,
    tokens: inputs.tokens.filter(fits),
    future: inputs.future.filter((edit) => fits(edit) && edit.row > cut),
  };
}

/** One more number typed over; a second one in the same cell replaces the first. */
export function withEdit(edits: readonly Edit[], edit: Edit): readonly Edit[] {
  return [...edits.filter(({ row, col }) => row !== edit.row || col !== edit.col), edit];
}
