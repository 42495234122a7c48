import type { Grid } from "../compute/figure.ts";

/** Between the ground of a cell and a colour of the theme; a share of 0 is the ground itself. */
const mix = (colour: string, share: number) =>
  share > 0
    ? `color-mix(in srgb, var(--${colour}) ${String(Math.min(share, 1) * 100)}%, var(--cell))`
    : undefined;

/** Where the grey of a move begins to grow with its logarithm, and the size that has the deepest. */
const [smallMove, largeMove] = [0.01, 1e4];

/** The background of a number: brown below zero and teal above it, purple for weights, grey for the size of a move. */
export function fills(grid: Grid): (value: number) => string | undefined {
  const finite = (fill: (value: number) => string | undefined) => (value: number) =>
    Number.isFinite(value) ? fill(value) : undefined;
  switch (grid.scale) {
    case "signed": {
      const sizes = Array.from(grid.data, Math.abs).filter(Number.isFinite);
      const most = Math.max(...sizes, 1);
      return finite((value) => mix(value < 0 ? "negative" : "positive", Math.abs(value) / most));
    }
    case "weights":
      return finite((value) => mix("share", value));
    case "moves":
      return finite((value) =>
        mix("move", Math.log1p(value / smallMove) / Math.log1p(largeMove / smallMove)),
      );
    case "bits":
    case "none":
      return () => undefined;
  }
}
