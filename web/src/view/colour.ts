import { scaleLinear, scaleSymlog } from "d3-scale";
import { interpolateBrBG, interpolateGreys, interpolatePurples } from "d3-scale-chromatic";
import type { Grid } from "../compute/figure.ts";

/** Both ends stay far enough from the ink of the theme that every number on them is legible. */
const grounds = {
  light: {
    zero: "#ffffff",
    negative: interpolateBrBG(0.27),
    positive: interpolateBrBG(0.73),
    weight: interpolatePurples(0.55),
    move: interpolateGreys(0.4),
  },
  dark: {
    zero: "#1d2026",
    negative: interpolateBrBG(0.1),
    positive: interpolateBrBG(0.9),
    weight: interpolatePurples(0.88),
    move: interpolateGreys(0.7),
  },
};

/** The background of a number: brown below zero and teal above it, purple for weights, grey for the size of a move. */
export function fills(grid: Grid, dark: boolean): (value: number) => string | undefined {
  const { zero, negative, positive, weight, move } = grounds[dark ? "dark" : "light"];
  const finite = (scale: (value: number) => string) => (value: number) =>
    Number.isFinite(value) ? scale(value) : undefined;
  switch (grid.scale) {
    case "signed": {
      const sizes = Array.from(grid.data, Math.abs).filter(Number.isFinite);
      const most = Math.max(...sizes, 1);
      return finite(scaleLinear([-most, 0, most], [negative, zero, positive]));
    }
    case "weights":
      return finite(scaleLinear([0, 1], [zero, weight]).clamp(true));
    case "moves":
      return finite(scaleSymlog([0, 1e4], [zero, move]).constant(0.01).clamp(true));
    case "bits":
    case "none":
      return () => undefined;
  }
}
