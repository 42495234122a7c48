import { readdirSync } from "node:fs";
import { root } from "./run.mjs";

/** C++ files right under the given folders. */
export const cppFiles = (extensions, ...folders) =>
  folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter((name) => extensions.some((extension) => name.endsWith(extension)))
      .map((name) => `${folder}/${name}`),
  );

export const formattedCpp = () =>
  cppFiles([".cpp", ".hpp", ".h"], "src", "bindings", "tests/cpp", "tests/regression");
