import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";

/** The files under the given files and folders, relative to `base` as these are, in a stable order. */
export function filesUnder(paths, base = root) {
  return paths.flatMap((path) => {
    const status = statSync(join(base, path), { throwIfNoEntry: false });
    if (!status?.isDirectory()) return status ? [path] : [];
    const names = readdirSync(join(base, path)).sort();
    return filesUnder(
      names.map((name) => join(path, name)),
      base,
    );
  });
}

function digest(paths) {
  const hash = createHash("sha256");
  for (const path of filesUnder(paths)) hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

/** Runs `build` unless it ran before on the same `inputs` and its `outputs` are still there. */
export async function whenChanged(name, { inputs, outputs }, build) {
  const stamp = join(root, "build/stamps", name);
  const now = digest(inputs);
  const current = existsSync(stamp) && readFileSync(stamp, "utf8") === now;
  if (current && outputs.every((path) => existsSync(join(root, path)))) return;
  await build();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, now);
}
