import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The path of an npm package's command. */
export const bin = (name) => `${root}node_modules/.bin/${name}`;

// npm puts the commands of its packages first, where binaryen's would stand before those of the same names that
// Emscripten brings.
const { PATH = "" } = process.env;
const systemPath = PATH.split(delimiter).filter((folder) => !folder.endsWith("node_modules/.bin"));

/** A failure that has already been explained to the reader: no stack trace wanted. */
export class Failure extends Error {}

/**
 * Runs a command in the repository's root and resolves to its exit code and, where `capture` was asked for,
 * what it printed. "tee" prints it as well.
 */
export function execute(command, args, { env, capture, timeout } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: systemPath.join(delimiter), ...env },
      timeout,
      stdio: ["inherit", ...Array(2).fill(capture ? "pipe" : "inherit")],
    });
    let output = "";
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from?.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (capture === "tee") to.write(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

/** Runs a command that must succeed. */
export async function run(command, args, options) {
  const { code, output } = await execute(command, args, options);
  if (code !== 0) {
    if (options?.capture === true) process.stderr.write(output);
    throw new Failure(`${[command.replace(root, ""), ...args].join(" ")} failed (${code})`);
  }
  return output;
}

/** Runs `main` when `module` is the script that Node was started with. */
export async function runAsScript(module, main) {
  if (process.argv[1] !== fileURLToPath(module)) return;
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Failure ? `softlookup: ${error.message}` : error);
    process.exitCode = 1;
  }
}
