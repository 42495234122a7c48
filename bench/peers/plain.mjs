import { attentionRows } from "../reference.mjs";

/** What one writes without a library: the reference itself, for every row. */
export const load = async () => (shape, inputs) => {
  const rows = Array.from({ length: shape.queries }, (_, i) => i);
  const run = () => Float32Array.from(attentionRows(shape, inputs, rows));
  return shape.kind === "attention" ? [{ peer: "plain JavaScript", open: () => ({ run }) }] : [];
};
