// npm run bench: see README.md.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildPackage } from "../scripts/build-package.mjs";
import { launchOptions } from "../scripts/chromium.mjs";
import { relaxedFlags } from "../scripts/node-flags.mjs";
import { Failure, root, run, runAsScript } from "../scripts/run.mjs";
import { serve } from "../scripts/serve.mjs";
import { setup, setupNpm } from "../scripts/setup.mjs";
import { coldStarts } from "./cold.mjs";
import { heaps } from "./heap.mjs";
import { quotable, reportMarkdown, timesText } from "./report.mjs";
import { workloads } from "./workloads.mjs";

const folder = `${root}build/bench/`;

/** Beside the workloads. */
const others = ["growth", "pool", "cold", "heap", "sizes"];

function chosen() {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      node: { type: "boolean", default: false },
      chromium: { type: "boolean", default: false },
      only: { type: "string" },
      record: { type: "boolean", default: false },
    },
  });
  const all = [...workloads.map(({ id }) => id), ...others];
  const quickly = [...workloads.filter(({ quick }) => quick).map(({ id }) => id), "growth", "cold", "sizes"];
  const parts = values.only?.split(",") ?? (values.quick ? quickly : all);
  const unknown = parts.filter((part) => !all.includes(part));
  if (unknown.length > 0) throw new Failure(`--only wants some of ${all.join(", ")}`);
  const engines = ["node", "chromium"].filter((name) => values[name]);
  return {
    quick: values.quick,
    record: values.record,
    parts,
    engines: engines.length > 0 ? engines : ["node", "chromium"],
  };
}

/** Calls a function of node.mjs in a process of its own. */
async function inNode(flags, name, ...args) {
  const file = `${folder}answer.json`;
  await run(process.execPath, [...flags, "bench/node.mjs", name, JSON.stringify(args), file]);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Calls a module's function in a page of its own, with `progress` as its last argument. */
async function inPage(browser, url, module, name, ...args) {
  const context = await browser.newContext(); // with a cache of its own
  try {
    const page = await context.newPage();
    await page.exposeFunction("progress", (text) => console.log(`Chromium: ${text}`));
    await page.goto(`${url}bench/page.html`);
    return await page.evaluate(
      async (call) => (await import(call.module))[call.name](...call.args, globalThis.progress),
      { module: `/bench/${module}`, name, args },
    );
  } finally {
    await context.close();
  }
}

async function measureNode({ suite, cold }) {
  return {
    engine: `Node ${process.versions.node}`,
    ...(await inNode(relaxedFlags(), "runSuite", suite)),
    cold: cold && (await coldStarts((name) => inNode([], "coldStart", name), cold)),
  };
}

async function measureChromium({ suite, cold }) {
  const { chromium } = await import("playwright"); // there once npm has run
  const server = await serve(root);
  const browser = await chromium.launch(launchOptions);
  const call = (...args) => inPage(browser, server.url, ...args);
  try {
    return {
      engine: `Chromium ${browser.version().split(".", 1)[0]}`,
      ...(await call("suite.mjs", "runSuite", suite)),
      cold: cold && (await coldStarts((name) => call("cold.mjs", "coldStart", name), cold)),
    };
  } finally {
    await browser.close();
    await server.close();
  }
}

await runAsScript(import.meta.url, async () => {
  const { quick, record, parts, engines } = chosen();
  const wants = (part) => parts.includes(part);
  await setup("build");
  await setupNpm("bench/");
  await buildPackage();
  const { writeFiles } = await import("./write-files.mjs");
  mkdirSync(folder, { recursive: true });
  await writeFiles();

  const options = {
    suite: {
      ids: workloads.map(({ id }) => id).filter(wants),
      growthTo: wants("growth") ? (quick ? 2048 : 8192) : 0,
      withPool: wants("pool"),
      quick,
    },
    cold: wants("cold") ? (quick ? 2 : 9) : 0,
  };
  const measure = { node: measureNode, chromium: measureChromium };
  const results = { quick, engines: [], heap: null, sizes: null };
  for (const engine of engines) results.engines.push(await measure[engine](options));
  if (wants("heap")) results.heap = await heaps((...args) => inNode([], "heapAfter", ...args));
  if (wants("sizes")) results.sizes = await (await import("./sizes.mjs")).sizes();

  const markdown = reportMarkdown(results);
  writeFileSync(`${folder}results.json`, JSON.stringify(results, null, 1));
  writeFileSync(`${folder}report.md`, markdown);
  if (record) {
    const quoted = quotable(results, new Date().toISOString().slice(0, 10));
    writeFileSync(`${root}bench/measured.json`, `${JSON.stringify(quoted, null, 2)}\n`);
  }
  console.log(`\n${timesText(results)}\n${markdown}`);
  console.log("Everything is in build/bench/results.json, the tables in build/bench/report.md.");
});
