import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inStep } from "./in-step.mjs";
import { lanes, moduleWith } from "./test-module.mjs";

/** The operations of `run` on vectors, in their order. */
function orderOf(module) {
  const run = module
    .emitStackIR()
    .split("(func ")
    .find((text) => text.startsWith("$run"));
  return [...run.matchAll(/(?:f32x4|i32x4|v128)\.(\w+)/g)]
    .map(([, name]) => name)
    .filter((name) => name !== "const");
}

/** That `body` comes to be computed in `order`, in so many groups, and with the same answer. */
function becomes(body, order, groups = 1) {
  const module = moduleWith(body);
  const values = lanes(module);
  assert.equal(inStep(module), groups);
  assert.ok(module.validate());
  assert.deepEqual(orderOf(module).slice(1), order.split(" ").filter(Boolean));
  assert.deepEqual(lanes(module), values);
}

function stays(body) {
  becomes(body, orderOf(moduleWith(body)).slice(1).join(" "), 0);
}

const get = (local) => `(local.get ${local})`;
const set = (local, value) => `(local.set ${local} ${value})`;
const tee = (local, value) => `(local.tee ${local} ${value})`;
const add = (x, y) => `(f32x4.add ${x} ${y})`;
const mul = (x, y) => `(f32x4.mul ${x} ${y})`;
const sub = (x, y) => `(f32x4.sub ${x} ${y})`;
const max = (...values) => values.reduce((x, y) => `(f32x4.max ${x} ${y})`);
const load = (at) => `(v128.load ${at})`;
const zero = "(i32.const 0)";

/** local += factor · c */
const sum = (local, factor) => set(local, add(get(local), mul(get(factor), get("$c"))));
const both = max(get("$a"), get("$d"));

const two = "(v128.const f32x4 2 2 2 2)";
/** local = (local + 2) · 2 - 2 */
const chain = (local) => set(local, sub(mul(add(get(local), two), two), two));
const all = max(...["$a", "$b", "$c", "$d"].map(get));

describe("neighbours go in step", () => {
  test("two products, then their sums", () =>
    becomes(`${sum("$a", "$b")} ${sum("$d", "$b")} ${both}`, "mul mul add add max"));

  test("whichever way round the sum is written", () =>
    becomes(
      `${sum("$a", "$b")} ${set("$d", add(mul(get("$b"), get("$c")), get("$d")))} ${both}`,
      "mul mul add add max",
    ));

  test("of four sums, two and two", () =>
    becomes(
      `${sum("$a", "$c")} ${sum("$d", "$c")} ${sum("$a", "$b")} ${sum("$d", "$b")} ${both}`,
      "mul mul add add mul mul add add max",
      2,
    ));

  test("four longer chains", () =>
    becomes(
      `${["$a", "$b", "$c", "$d"].map(chain).join(" ")} ${all}`,
      "add add add add mul mul mul mul sub sub sub sub max max max",
    ));

  test("with what the first one loads for all", () =>
    becomes(
      `${set("$a", add(get("$a"), mul(tee("$c", load(zero)), get("$b"))))} ${sum("$d", "$b")} ${both}`,
      "load mul mul add add max",
    ));

  test("though each keeps its own number in one local on the way", () =>
    becomes(
      `${set("$a", add(mul(tee("$d", get("$a")), get("$d")), get("$d")))}
       ${set("$b", add(mul(tee("$d", get("$b")), get("$d")), get("$d")))} ${all}`,
      "mul mul add add max max max",
    ));

  test("though the second one overwrites what the first one reads", () =>
    becomes(
      `${set("$a", add(get("$a"), mul(get("$d"), get("$b"))))} ${set("$d", add(get("$c"), mul(get("$c"), get("$b"))))}
       ${both}`,
      "mul mul add add max",
    ));

  test("at addresses that they compute", () => {
    const next = tee("$at", "(i32.add (local.get $at) (i32.const 16))");
    becomes(
      `(v128.store (i32.const 32) ${two})
       ${set("$a", add(get("$a"), mul(load(next), get("$b"))))} ${set("$d", add(get("$d"), mul(load(next), get("$b"))))}
       (v128.store (local.get $at) ${both}) ${load("(i32.const 32)")}`,
      "store load mul load mul add add max store load",
    );
  });

  test("shifts and fused sums as well", () => {
    const fused = (x) => `(i32x4.shl (f32x4.relaxed_madd ${get(x)} ${two} ${two}) (i32.const 0))`;
    becomes(
      `${set("$a", fused("$a"))} ${set("$d", fused("$d"))} ${both}`,
      "relaxed_madd relaxed_madd shl shl max",
    );
  });

  test("inside a loop", () =>
    becomes(
      `(loop $next ${sum("$a", "$b")} ${sum("$d", "$b")}
         (br_if $next (i32.lt_u ${tee("$at", "(i32.add (local.get $at) (i32.const 1))")} (i32.const 3)))) ${both}`,
      "mul mul add add max",
    ));
});

describe("stays as it is", () => {
  test("the second one needs the first one", () => stays(`${sum("$a", "$b")} ${sum("$d", "$a")} ${both}`));
  test("both add to one local", () => stays(`${sum("$a", "$b")} ${sum("$a", "$c")} ${both}`));
  test("a store lies between", () =>
    stays(`${sum("$a", "$b")} (v128.store ${zero} ${get("$a")}) ${sum("$d", "$b")} ${both}`));
  test("one calls what writes to memory", () =>
    stays(
      `${set("$a", add(load(zero), mul(get("$b"), get("$c"))))} ${set("$d", add("(call $other)", mul(get("$b"), get("$c"))))}
       ${both}`,
    ));
  test("they compute different things", () =>
    stays(`${sum("$a", "$b")} ${set("$d", sub(mul(get("$b"), get("$c")), get("$d")))} ${both}`));
  test("one operation each", () =>
    stays(`${set("$a", add(get("$a"), two))} ${set("$d", add(get("$d"), two))} ${both}`));
  test("three longer chains, where four go in step", () =>
    stays(`${["$a", "$b", "$c"].map(chain).join(" ")} ${all}`));
  test("numbers that are no vectors", () => {
    const step = "(i32.add (i32.mul (local.get $at) (i32.const 3)) (i32.const 16))";
    stays(`(local.set $at ${step}) (local.set $at ${step}) ${get("$a")}`);
  });
});

test("an order that forgets who needs whom is noticed", () => {
  const body = `${sum("$a", "$b")} ${sum("$d", "$a")} ${both}`;
  const wrong = `${sum("$d", "$a")} ${sum("$a", "$b")} ${both}`;
  assert.throws(() => becomes(body, "mul mul add add max"));
  assert.notDeepEqual(lanes(moduleWith(wrong)), lanes(moduleWith(body)));
});
