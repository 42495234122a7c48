import { at, type Grid } from "../compute/figure.ts";
import { parseNumber } from "../state/codec.ts";

export interface Draft {
  text: string;
  /** The number that is in use while the text stands there. */
  value: number;
  valid: boolean;
}

/** Texts being typed into the matrices of a figure. A wrong one stays where it is, and so does the last right number. */
export class Drafts {
  #typed = $state.raw<Readonly<Record<string, Draft>>>({});

  /** What is typed in a cell; nothing once its number has been changed from elsewhere. */
  in(grid: Grid, row: number, col: number): Draft | undefined {
    const draft = this.#typed[keyOf(grid, row, col)];
    return draft?.value === at(grid.data, grid.cols.length, row, col) ? draft : undefined;
  }

  type(grid: Grid, row: number, col: number, text: string): void {
    const parsed = parseNumber(text);
    const value = parsed ?? at(grid.data, grid.cols.length, row, col);
    this.#typed = { ...this.#typed, [keyOf(grid, row, col)]: { text, value, valid: parsed !== undefined } };
    if (parsed !== undefined) grid.type?.write(row, col, parsed);
  }

  /** The cell is left: a right number needs its draft no more. */
  leave(grid: Grid, row: number, col: number): void {
    if (this.in(grid, row, col)?.valid !== false) this.drop(grid, row, col);
  }

  drop(grid: Grid, row: number, col: number): void {
    const { [keyOf(grid, row, col)]: dropped, ...others } = this.#typed;
    if (dropped) this.#typed = others;
  }

  /** The wrong draft typed last. */
  problem(grids: readonly Grid[]): Draft | undefined {
    return Object.keys(this.#typed)
      .map((key) => {
        const [id, row, col] = key.split(".");
        const grid = grids.find((other) => other.id === id);
        return grid && this.in(grid, Number(row), Number(col));
      })
      .findLast((draft) => draft?.valid === false);
  }
}

const keyOf = (grid: Grid, row: number, col: number) => `${grid.id}.${String(row)}.${String(col)}`;
