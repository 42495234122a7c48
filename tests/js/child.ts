// Runs a script in a Node of its own.

import { spawn } from "node:child_process";

export interface Outcome {
  /** The exit code; 13 is a promise that never settled. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The text of an ES module, and where and how to run it. */
export function runModule(
  source: string,
  { cwd, flags = [] }: { cwd: string; flags?: string[] },
): Promise<Outcome> {
  return runNode([...flags, "--input-type=module", "--eval", source], { cwd });
}

/** Node's arguments: flags, a script, the script's own. */
export function runNode(args: readonly string[], { cwd }: { cwd: string }): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const outcome: Outcome = { code: null, stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (outcome.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (outcome.stderr += text));
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ ...outcome, code });
    });
  });
}

/** A file of the built package, as a URL that can stand in a script. */
export function built(name: string): string {
  return JSON.stringify(new URL(`../../dist/${name}`, import.meta.url).href);
}
