// A pool in a process of its own.

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { built, runModule } from "./child.js";

vi.setConfig({ testTimeout: 30_000 });

const elsewhere = mkdtempSync(join(tmpdir(), "softlookup-"));
afterAll(() => {
  rmSync(elsewhere, { recursive: true });
});

test("ends when its pool is disposed, and needs no core in the main thread", async () => {
  const outcome = await runModule(
    `import { createPool } from ${built("pool.js")};
     const pool = createPool();
     const { output } = await pool.scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]]);
     console.log(pool.workers > 0, output.data[0]);
     pool.dispose();`,
    { cwd: elsewhere },
  );
  expect(outcome).toEqual({ code: 0, stdout: "true 2\n", stderr: "" });
});

test("a worker that cannot start is a LOAD error, for every call, and the process still ends", async () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  for (const name of ["dist", "package.json"]) {
    cpSync(join(root, name), join(elsewhere, name), { recursive: true });
  }
  rmSync(join(elsewhere, "dist/pool-worker.js"));
  const outcome = await runModule(
    `import { createPool } from ${JSON.stringify(pathToFileURL(join(elsewhere, "dist/pool.js")).href)};
     const pool = createPool({ workers: 2 });
     for (const _ of [1, 2])
       await pool.scaledDotProductAttention([[0]], [[0]], [[1]]).catch(({ code, message }) => console.log(code, message.split(":")[0]));`,
    { cwd: elsewhere },
  );
  expect(outcome).toEqual({ code: 0, stdout: "LOAD pool-worker.js\n".repeat(2), stderr: "" });
});
