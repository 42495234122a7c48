// Relaxed SIMD: a finished binary with its multiplications and additions fused. Made here, since compilers as old as
// Emscripten 3.1.6 write relaxed instructions under numbers that engines no longer know.

import binaryen from "binaryen";
import { Failure } from "./run.mjs";

const kinds = new Map(
  Object.keys(binaryen)
    .filter((name) => typeof binaryen[`${name}Id`] === "number")
    .map((name) => [binaryen[`${name}Id`], binaryen[name]]),
);

/** The names under which expressions hold other expressions. */
const holders = [
  ...["Children", "Operands", "CatchBodies", "Body", "Condition", "IfTrue", "IfFalse", "Value"],
  ...["Left", "Right", "A", "B", "C", "Vec", "Shift", "Ptr", "Dest", "Source", "Size", "Delta"],
];

function changeChildren(expression, change) {
  const kind = kinds.get(binaryen.getExpressionId(expression));
  for (const name of holders) {
    const held = kind?.[`get${name}`]?.(expression);
    if (held) kind[`set${name}`](expression, Array.isArray(held) ? held.map(change) : change(held));
  }
}

function operandsOf(expression, operation) {
  if (binaryen.getExpressionId(expression) !== binaryen.BinaryId) return undefined;
  const { op, left, right } = binaryen.getExpressionInfo(expression);
  return op === operation ? [left, right] : undefined;
}

/** The locals that an expression reads and those that it writes, by index. */
function localsOf(expression) {
  const read = new Set();
  const written = new Set();
  const visit = (inner) => {
    const id = binaryen.getExpressionId(inner);
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
  for (let i = 0; i < module.getNumFunctions(); i++) {
    const func = module.getFunctionByIndex(i);
    const { body } = binaryen.getFunctionInfo(func);
    if (body) binaryen.Function.setBody(func, visit(body));
  }
  return places;
}

/**
 * The relaxed form of what wasm-opt -Oz wrote, and in how many places it differs. It carries a section of its own, by
 * which the package can tell the two apart.
 * @param features Binaryen's names of what the binary uses
 */
export function relax(bytes, features) {
  const flags = ["RelaxedSIMD", ...features].reduce((all, name) => all | binaryen.Features[name], 0);
  const module = binaryen.readBinary(bytes, flags);
  try {
    const places = fuse(module);
    module.addCustomSection("relaxed-simd", []);
    if (places === 0 || !module.validate()) throw new Failure("the binary cannot be relaxed");
    binaryen.setOptimizeLevel(2);
    binaryen.setShrinkLevel(2);
    binaryen.setGenerateStackIR(true);
    binaryen.setOptimizeStackIR(true);
    return { binary: module.emitBinary(), places };
  } finally {
    module.dispose();
  }
}
