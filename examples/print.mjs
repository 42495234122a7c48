// How the examples print tensors.

/** Numbers written like a matrix of NumPy: rows in brackets, all of one width. */
export function matrixText({ data, shape }, decimals = 4) {
  const columns = shape.at(-1);
  const cells = Array.from(data, (number) => numberText(number, decimals));
  const width = Math.max(...cells.map((cell) => cell.length));
  const rows = Array.from({ length: cells.length / columns }, (_, row) =>
    cells.slice(row * columns, (row + 1) * columns).map((cell) => cell.padStart(width)),
  );
  return `[${rows.map((row) => `[${row.join(", ")}]`).join(",\n ")}]`;
}

/** "(2, 5, 64)" */
export const shapeText = (shape) => `(${shape.join(", ")})`;

function numberText(number, decimals) {
  if (Number.isFinite(number)) return number.toFixed(decimals);
  return String(number).replace("Infinity", "inf");
}
