/** Formulae as HTML, rendered by build/math.ts, under their TeX. */
declare module "virtual:math" {
  const math: Readonly<Record<string, string>>;
  export default math;
}
