import { at, type Grid } from "../compute/figure.ts";
import { exactly, rounded } from "../format.ts";
import type { Spot } from "./roving.ts";

/** How the cells of a row look at the moment. */
export interface RowLook {
  grid: Grid;
  row: number;
  fill: (value: number) => string | undefined;
  active: Spot | undefined;
  lit: (row: number, col: number) => boolean;
  home: Spot;
  /** Id of the element that explains the active cell. */
  readout: string;
}

export const isSeam = ({ group }: Grid, col: number): boolean =>
  group !== undefined && col > 0 && col % group === 0;

interface Drawn {
  cell: HTMLTableCellElement;
  value?: number;
  fill?: string | undefined;
  look?: string;
  tabIndex?: number;
}

/**
 * Cells that are only read, of one row, drawn without Svelte: a large matrix has hundreds, and each would cost a
 * dozen of its signals.
 */
export class PlainCells {
  #drawn: Drawn[] = [];
  readonly #line: HTMLTableRowElement;

  constructor(line: HTMLTableRowElement) {
    this.#line = line;
  }

  /** As many cells as `count`; only what changed is written. */
  draw(count: number, look: RowLook): void {
    while (this.#drawn.length > count) this.#drawn.pop()?.cell.remove();
    const missing = document.createDocumentFragment();
    while (this.#drawn.length < count) {
      const cell = document.createElement("td");
      cell.dataset["row"] = String(look.row);
      cell.dataset["col"] = String(this.#drawn.length);
      this.#drawn.push({ cell });
      missing.append(cell);
    }
    this.#drawn.forEach((drawn, col) => {
      drawCell(drawn, col, look);
    });
    this.#line.append(missing);
  }
}

function drawCell(drawn: Drawn, col: number, { grid, row, fill, active, lit, home, readout }: RowLook): void {
  const { cell } = drawn;
  const value = at(grid.data, grid.cols.length, row, col);
  if (!Object.is(drawn.value, value)) {
    cell.dataset["value"] = exactly(value);
    cell.textContent = rounded(value);
    drawn.value = value;
  }
  const colour = fill(value);
  if (drawn.fill !== colour) {
    cell.style.backgroundColor = colour ?? "";
    drawn.fill = colour;
  }
  const isActive = active?.row === row && active.col === col;
  const look = [
    grid.moved?.(row, col),
    grid.hidden?.(row, col) === true && "hidden",
    isActive && "active",
    lit(row, col) && "lit",
    isSeam(grid, col) && "seam",
  ]
    .filter(Boolean)
    .join(" ");
  if ((drawn.look ?? "") !== look) {
    cell.className = look;
    if (isActive) cell.setAttribute("aria-describedby", readout);
    else cell.removeAttribute("aria-describedby");
    drawn.look = look;
  }
  const tabIndex = home.row === row && home.col === col ? 0 : -1;
  if (drawn.tabIndex !== tabIndex) {
    cell.tabIndex = tabIndex;
    drawn.tabIndex = tabIndex;
  }
}
