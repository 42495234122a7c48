import type { ShownMatrix } from "./matrices.ts";

/** JSON has no infinities and no NaN; they become text. */
const plain = (value: number) => (Number.isFinite(value) ? value : String(value));

const rowOf = ({ cols, data }: ShownMatrix, row: number) =>
  data.slice(row * cols.length, (row + 1) * cols.length).map(plain);

export function toJson(matrices: readonly ShownMatrix[], link: string): string {
  const written = matrices.map((matrix) => ({
    ...matrix,
    data: matrix.rows.map((_, row) => rowOf(matrix, row)),
  }));
  return `${JSON.stringify({ link, matrices: written }, undefined, 2)}\n`;
}

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** One block for each matrix: its name and columns, then its rows. */
export function toCsv(matrices: readonly ShownMatrix[]): string {
  const blocks = matrices.map((matrix) => {
    const head = [matrix.label, ...matrix.cols].map(quoted).join(",");
    const rows = matrix.rows.map((name, row) => [quoted(name), ...rowOf(matrix, row)].join(","));
    return [head, ...rows].join("\r\n");
  });
  return `${blocks.join("\r\n\r\n")}\r\n`;
}
