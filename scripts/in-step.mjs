// What a finished binary computes in neighbouring statements, computed in step: two products and then the two sums, four
// exponentials at once. One after the other, each chain of operations waits for itself; and a processor that deals
// operations out to its pipes in turn sends every product to the same one. Made here, since optimisers put an operation
// next to the one that uses it. V8 keeps the order of the binary in Chromium and Node 26, but not in Node 20.

import binaryen from "binaryen";
import { changeBodies, changeChildren, idOf, infoOf } from "./expressions.mjs";

const loads = new Set([binaryen.LoadId, binaryen.SIMDLoadId]);

/** What has no effect, and depends on memory and on what it holds. */
const pure = new Set([...loads, binaryen.BinaryId, binaryen.SIMDShiftId, binaryen.SIMDTernaryId]);

class Value {
  uses = 0;
  local; // that holds it, once it has been computed

  constructor(expression, operands) {
    this.expression = expression;
    this.operands = operands; // none where it only reads a local or is a constant
    this.type = binaryen.getExpressionType(expression);
    for (const operand of operands ?? []) operand.uses++;
  }

  get isStep() {
    return this.operands !== undefined && this.type === binaryen.v128 && !loads.has(idOf(this.expression));
  }

  get operation() {
    return `${idOf(this.expression)} ${infoOf(this.expression).op}`;
  }
}

function childrenOf(expression) {
  const children = [];
  changeChildren(expression, (child) => {
    children.push(child);
    return child;
  });
  return children;
}

/** A statement that sets a local, taken apart: its operations on vectors, and the locals once it is done. */
function takeApart(statement, before) {
  if (idOf(statement) !== binaryen.LocalSetId) return undefined;
  const locals = new Map(before);
  const steps = [];
  const read = (expression) => {
    const id = idOf(expression);
    if (id === binaryen.ConstId) return new Value(expression);
    if (id === binaryen.LocalGetId) return locals.get(infoOf(expression).index) ?? new Value(expression);
    const operands = childrenOf(expression).map(read);
    if (operands.includes(undefined)) return undefined;
    if (id === binaryen.LocalSetId) {
      const [value] = operands;
      value.uses++;
      locals.set(infoOf(expression).index, value);
      return value;
    }
    if (!pure.has(id)) return undefined;
    const value = new Value(expression, operands);
    if (value.isStep) steps.push(value);
    return value;
  };
  return read(statement) && { steps, locals };
}

/** How many statements like this one go in step: of sums with a product, more would run out of registers. */
const atOnce = ({ steps }) => (steps.length === 2 ? 2 : 4);

const isLike = (one, other) =>
  one.steps.length === other.steps.length &&
  one.steps.every(({ operation }, i) => operation === other.steps[i].operation);

const dependsOn = (one, other) =>
  one.steps.some(({ operands }) => operands.some((operand) => other.steps.includes(operand)));

/** The statements from `start` on that go in step. */
function groupFrom(statements, start) {
  const group = [];
  for (let i = start; i < statements.length; i++) {
    const next = takeApart(statements[i], group.at(-1)?.locals);
    if (!next || next.steps.length < 2) return undefined;
    if (group.some((one) => !isLike(next, one) || dependsOn(next, one))) return undefined;
    group.push(next);
    if (group.length === atOnce(next)) return group;
  }
  return undefined;
}

/** The statements of a group in their new order. */
function write(module, func, group) {
  const statements = [];
  const compute = (value) => {
    if (value.operands === undefined) return module.copyExpression(value.expression);
    if (value.local === undefined) {
      const operands = value.operands.map(compute);
      changeChildren(value.expression, () => operands.shift());
      if (value.uses === 1 && !value.isStep) return value.expression;
      value.local = binaryen._BinaryenFunctionAddVar(func, value.type); // which only the C API has
      statements.push(module.local.set(value.local, value.expression));
    }
    return module.local.get(value.local, value.type);
  };
  group[0].steps.forEach((_, i) => group.forEach(({ steps }) => compute(steps[i])));
  for (const [local, value] of group.at(-1).locals) statements.push(module.local.set(local, compute(value)));
  return statements;
}

/** Puts into step all that can be, and returns how many groups there were. */
export function inStep(module) {
  let groups = 0;
  changeBodies(module, (body, func) => {
    const reorder = (statements) => {
      const reordered = [];
      for (let i = 0; i < statements.length;) {
        const group = groupFrom(statements, i);
        reordered.push(...(group ? write(module, func, group) : [statements[i]]));
        groups += group ? 1 : 0;
        i += group?.length ?? 1;
      }
      return reordered;
    };
    const visit = (expression) => {
      changeChildren(expression, visit);
      if (idOf(expression) === binaryen.BlockId) {
        binaryen.Block.setChildren(expression, reorder(binaryen.Block.getChildren(expression)));
      }
      return expression;
    };
    return visit(body);
  });
  return groups;
}
