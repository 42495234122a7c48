/** Formulae as HTML, rendered by build/math.ts, under their keys in content/index.ts: those of every group that has been loaded. */
declare module "virtual:math" {
  const math: Readonly<Record<string, string>>;
  export default math;
}

/** Adds the formulae of a group: a lesson or the glossary. */
declare module "virtual:math/*";

/** A worker whose code is part of the page. */
declare module "*?worker&inline" {
  const InlineWorker: new () => Worker;
  export default InlineWorker;
}
