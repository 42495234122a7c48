import { attentionRows } from "../reference.mjs";
import { operations } from "../workloads.mjs";

/** Of more, one call takes many seconds. */
const mostOperations = 3e9;

/** What one writes without a library: the reference itself, for every row. */
export const load = async () => (shape, inputs) => {
  if (shape.kind !== "attention" || operations(shape) > mostOperations) return [];
  const rows = Array.from({ length: shape.queries }, (_, i) => i);
  const run = () => Float32Array.from(attentionRows(shape, inputs, rows));
  return [{ peer: "plain JavaScript", open: () => ({ run }) }];
};
