// The two binaries of the package, made of the one that wasm-opt wrote.

import binaryen from "binaryen";
import { inStep } from "./in-step.mjs";
import { fuse } from "./relaxed.mjs";
import { Failure } from "./run.mjs";

/** Settings of Binaryen's, not of a module: the smallest form of what is emitted. */
function setSmallest(on) {
  binaryen.setOptimizeLevel(on ? 2 : 0);
  binaryen.setShrinkLevel(on ? 2 : 0);
  binaryen.setGenerateStackIR(on);
  binaryen.setOptimizeStackIR(on);
}

/**
 * @param features Binaryen's names of what the binary uses
 * @param changes functions that change a module and return in how many places
 */
function rewrite(bytes, features, changes, sections) {
  const flags = features.reduce((all, name) => all | binaryen.Features[name], 0);
  const module = binaryen.readBinary(bytes, flags);
  try {
    for (const change of changes) {
      const places = change(module);
      if (places === 0) throw new Failure(`${change.name} found nothing: the compiler writes something else`);
      console.log(`${change.name}: ${places}`);
    }
    for (const name of sections) module.addCustomSection(name, []);
    if (!module.validate()) throw new Failure("the binary became invalid");
    setSmallest(true);
    module.runPasses(["coalesce-locals", "vacuum", "reorder-locals"]);
    return module.emitBinary();
  } finally {
    setSmallest(false);
    module.dispose();
  }
}

export const plainBinary = (bytes, features) => rewrite(bytes, features, [inStep], []);

/** It carries a section of its own, by which the package can tell the two apart. */
export const relaxedBinary = (bytes, features) =>
  rewrite(bytes, ["RelaxedSIMD", ...features], [fuse, inStep], ["relaxed-simd"]);
