/** Formulae as HTML, rendered by build/math.ts, under their TeX. */
declare module "virtual:math" {
  const math: Readonly<Record<string, string>>;
  export default math;
}

/** A worker whose code is part of the page. */
declare module "*?worker&inline" {
  const InlineWorker: new () => Worker;
  export default InlineWorker;
}
