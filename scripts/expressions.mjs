// Binaryen's expressions, and those that they hold.

import binaryen from "binaryen";

const kinds = new Map(
  Object.keys(binaryen)
    .filter((name) => typeof binaryen[`${name}Id`] === "number")
    .map((name) => [binaryen[`${name}Id`], binaryen[name]]),
);

/** The names under which expressions hold other expressions; operands in the order in which they are evaluated. */
const holders = [
  ...["Children", "Operands", "CatchBodies", "Body", "Condition", "IfTrue", "IfFalse", "Value"],
  ...["Left", "Right", "A", "B", "C", "Vec", "Shift", "Ptr", "Dest", "Source", "Size", "Delta"],
];

export const idOf = (expression) => binaryen.getExpressionId(expression);
export const infoOf = (expression) => binaryen.getExpressionInfo(expression);

/** Replaces each expression that this one holds by what `change` makes of it. */
export function changeChildren(expression, change) {
  const kind = kinds.get(idOf(expression));
  for (const name of holders) {
    const held = kind?.[`get${name}`]?.(expression);
    if (held) kind[`set${name}`](expression, Array.isArray(held) ? held.map(change) : change(held));
  }
}

/** Replaces the body of each function by what `change(body, function)` makes of it. */
export function changeBodies(module, change) {
  for (let i = 0; i < module.getNumFunctions(); i++) {
    const func = module.getFunctionByIndex(i);
    const { body } = binaryen.getFunctionInfo(func);
    if (body) binaryen.Function.setBody(func, change(body, func));
  }
}
