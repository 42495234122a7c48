import type { Grid } from "../compute/figure.ts";

// Matrices of many cells are drawn in pieces: the browser lays out and paints each before the next one comes.

/** Cells that are drawn in one task. */
export const atOnce = 150;

/** The same for the next piece: fewer at first, while none of this has ever run and the browser has not compiled it. */
let pace = 25;

/** A cell to type in or to switch takes as long as several that are only read. */
const costOf = (grid: Grid) => ((grid.type ?? grid.toggle) ? 6 : 1) * grid.cols.length;

/** A header is made of several elements: that of a wide matrix is a piece of its own. */
const isWide = (grid: Grid) => 3 * grid.cols.length > atOnce;

/** A matrix whose first rows stand; below them stands what was there before. */
export interface Drawn {
  grid: Grid;
  rows: number;
}

export const whole = (grids: readonly Grid[]): readonly Drawn[] =>
  grids.map((grid) => ({ grid, rows: grid.rows.length }));

export const cellCount = (grids: readonly Grid[]): number =>
  grids.reduce((count, { rows, cols }) => count + rows.length * cols.length, 0);

/** Rows of this very matrix that stand already. */
const rowsOf = (drawn: Drawn | undefined, grid: Grid) => (drawn?.grid === grid ? drawn.rows : 0);

export const isDrawn = (drawn: readonly Drawn[], grids: readonly Grid[]): boolean =>
  drawn.length === grids.length &&
  grids.every((grid, index) => rowsOf(drawn[index], grid) === grid.rows.length);

/** The next rows, as many as one task may draw. */
export function drawnFurther(drawn: readonly Drawn[], grids: readonly Grid[]): readonly Drawn[] {
  const next = drawn.slice(0, grids.length);
  const most = pace;
  pace = Math.min(2 * pace, atOnce);
  let left = most;
  for (const [index, grid] of grids.entries()) {
    const from = rowsOf(drawn[index], grid);
    const missing = grid.rows.length - from;
    if (missing === 0) continue;
    if (drawn[index] === undefined && isWide(grid)) {
      if (left === most) next[index] = { grid, rows: 0 };
      break;
    }
    const some = Math.min(missing, Math.max(Math.floor(left / costOf(grid)), left === most ? 1 : 0));
    if (some === 0) break;
    next[index] = { grid, rows: from + some };
    left -= some * costOf(grid);
    if (some < missing) break;
  }
  return next;
}
