/** By linear interpolation between the sorted values (Hyndman and Fan's type 7, NumPy's default). */
export function quantile(values, p) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * p;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}

/** Median and quartiles. */
export const summary = (values) => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/** Round by round, so that what slows a whole round falls out; only rounds that both took part in. */
export const ratios = (times, ownTimes) =>
  times.slice(0, ownTimes.length).map((time, round) => time / ownTimes[round]);
