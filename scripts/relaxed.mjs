// Relaxed SIMD: a finished binary with its multiplications and additions fused. Made here, since compilers as old as
// Emscripten 3.1.6 write relaxed instructions under numbers that engines no longer know.

import binaryen from "binaryen";
import { changeBodies, changeChildren, idOf, infoOf } from "./expressions.mjs";

function operandsOf(expression, operation) {
  if (idOf(expression) !== binaryen.BinaryId) return undefined;
  const { op, left, right } = infoOf(expression);
  return op === operation ? [left, right] : undefined;
}

/** The locals that an expression reads and those that it writes, by index. */
function localsOf(expression) {
  const read = new Set();
  const written = new Set();
  const visit = (inner) => {
    const id = idOf(inner);
    if (id === binaryen.LocalGetId) read.add(binaryen.LocalGet.getIndex(inner));
    if (id === binaryen.LocalSetId) written.add(binaryen.LocalSet.getIndex(inner));
    changeChildren(inner, visit);
    return inner;
  };
  visit(expression);
  return { read, written };
}

/** Whether nobody can tell which of the two was computed first. */
function canSwap(module, one, other) {
  const { ReadsLocal, WritesLocal, ReadsGlobal, ReadsMemory, ImplicitTrap } = binaryen.SideEffects;
  const harmless = ReadsLocal | WritesLocal | ReadsGlobal | ReadsMemory | ImplicitTrap;
  const [a, b] = [one, other].map(localsOf);
  const touches = ({ written }, { read, written: alsoWritten }) =>
    [...written].some((local) => read.has(local) || alsoWritten.has(local));
  return (
    [one, other].every((expression) => (binaryen.getSideEffects(expression, module) & ~harmless) === 0) &&
    !touches(a, b) &&
    !touches(b, a)
  );
}

/**
 * Fuses every a · b + c of float32 vectors in `module` and returns how many there were. In c + a · b the addend, which
 * is computed first, moves behind the factors; where that could be noticed, all stays as it is.
 */
export function fuse(module) {
  let places = 0;
  const visit = (expression) => {
    changeChildren(expression, visit);
    const [left, right] = operandsOf(expression, binaryen.AddVecF32x4) ?? [];
    if (!left) return expression;
    const [before, behind] = [left, right].map((operand) => operandsOf(operand, binaryen.MulVecF32x4));
    const operands = before
      ? [...before, right]
      : behind && canSwap(module, left, right)
        ? [...behind, left]
        : undefined;
    if (!operands) return expression;
    places++;
    // Of the C API, since module.f32x4 does not have it.
    return binaryen._BinaryenSIMDTernary(module.ptr, binaryen.RelaxedMaddVecF32x4, ...operands);
  };
  changeBodies(module, visit);
  return places;
}
