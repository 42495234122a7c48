// Brings a machine to where it can build ("build") and test ("test"): system packages by apt where that is
// allowed, npm packages. Where it is not, it says what is missing and stops before anything is changed.

import { existsSync, readFileSync } from "node:fs";
import { execute, Failure, root, run, runAsScript } from "./run.mjs";
import { isMissing, isOlder, lacking } from "./requirements.mjs";
import { which } from "./which.mjs";

const nodeMinimum = "20.19";

/**
 * What to do about what is lacking: nothing, apt-get (with sudo or without), or to stop with a message. All
 * or nothing: apt-get is chosen only when it can mend everything, which a program too old on PATH rules out.
 * @param permission "root", "sudo" or null
 */
export function plan(lacks, permission) {
  if (lacks.length === 0) return { action: "nothing" };
  if (permission === null || !lacks.every(isMissing)) return { action: "stop", message: explain(lacks) };
  return {
    action: "apt",
    packages: [...new Set(lacks.map(({ apt }) => apt))],
    prefix: permission === "sudo" ? ["sudo"] : [],
  };
}

function explain(lacks) {
  const rows = [
    ["missing", "wanted for", "apt", "brew", "conda"],
    ...lacks.map(({ name, use, apt, brew, conda }) => [name, use, apt, brew, conda]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const table = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column]))
      .join("   ")
      .trimEnd(),
  );
  const notes = lacks.flatMap(({ otherwise }) => otherwise ?? []);
  const problems = lacks.filter((lack) => !isMissing(lack)).map(({ problem }) => problem);
  return [
    "this machine lacks what is needed; nothing was changed.",
    "",
    ...table,
    "",
    ...problems,
    ...notes,
  ].join("\n");
}

async function permissionForApt() {
  if (process.env.SOFTLOOKUP_NO_APT || !which("apt-get")) return null;
  if (process.getuid() === 0) return "root";
  if (!which("sudo")) return null;
  const { code } = await execute("sudo", ["-n", "true"], { capture: true });
  return code === 0 || process.stdin.isTTY ? "sudo" : null;
}

async function setupSystem(purpose) {
  const lacks = lacking(purpose);
  const { action, packages, prefix, message } = plan(
    lacks,
    lacks.length > 0 ? await permissionForApt() : null,
  );
  if (action === "stop") throw new Failure(message);
  if (action === "nothing") return;

  console.log("softlookup: these system packages are missing and will be installed by apt-get:");
  for (const { apt, name, use } of lacks) console.log(`  ${apt} (${name}: ${use})`);
  const [command, ...args] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  await run(command, [...args, "update"]);
  await run(command, [...args, "install", "--yes", "--no-install-recommends", ...packages]);

  const still = lacking(purpose);
  if (still.length > 0) throw new Failure(explain(still));
}

/** Whether what npm installed (its hidden lock file) is what the lock file wants. */
export function isInstalled(lock, hidden) {
  const wanted = Object.entries(lock.packages).filter(([path]) => path !== "");
  return (
    wanted.every(([path, { version, optional }]) =>
      path in hidden.packages ? hidden.packages[path].version === version : optional,
    ) && Object.keys(hidden.packages).every((path) => path in lock.packages)
  );
}

/** @param folder where the lock file is, from the root */
export async function setupNpm(folder = "") {
  const read = (path) => JSON.parse(readFileSync(`${root}${folder}${path}`, "utf8"));
  const hidden = "node_modules/.package-lock.json";
  if (existsSync(`${root}${folder}${hidden}`) && isInstalled(read("package-lock.json"), read(hidden))) return;
  await run("npm", ["ci", "--prefix", `${root}${folder}`]);
}

/** @param purpose "build" or "test" */
export async function setup(purpose) {
  if (isOlder(process.versions.node, nodeMinimum)) {
    throw new Failure(`Node ${nodeMinimum} or newer is needed; this is ${process.versions.node}`);
  }
  await setupSystem(purpose);
  await setupNpm();
}

await runAsScript(import.meta.url, () => setup("test"));
