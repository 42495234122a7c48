export interface Spot {
  row: number;
  col: number;
}

/** Where a key leads inside a matrix, row −1 and column −1 being its headers; undefined when it is no key of the matrix. */
export function spotAfter(key: string, { row, col }: Spot, rows: number, cols: number): Spot | undefined {
  const inside = (spot: Spot): Spot => ({
    row: Math.min(Math.max(spot.row, col < 0 ? 0 : -1), rows - 1),
    col: Math.min(Math.max(spot.col, row < 0 ? 0 : -1), cols - 1),
  });
  switch (key) {
    case "ArrowUp":
      return inside({ row: row - 1, col });
    case "ArrowDown":
    case "Enter":
      return inside({ row: row + 1, col });
    case "ArrowLeft":
      return inside({ row, col: col - 1 });
    case "ArrowRight":
      return inside({ row, col: col + 1 });
    case "Home":
      return { row, col: 0 };
    case "End":
      return { row, col: cols - 1 };
    default:
      return undefined;
  }
}

/** In a number that is being edited, sideways keys move the caret until it stands at the edge. */
export function movesCaret(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLInputElement)) return false;
  const { selectionStart, selectionEnd, value } = target;
  const whole = selectionStart === 0 && selectionEnd === value.length;
  if (whole) return false;
  if (key === "ArrowLeft" || key === "Home") return selectionEnd !== 0;
  if (key === "ArrowRight" || key === "End") return selectionStart !== value.length;
  return false;
}
