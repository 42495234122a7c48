// The package as its users get it: packed, installed elsewhere, imported, type-checked, bundled.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { build } from "vite";
import { launchOptions } from "../../scripts/chromium.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tsc = join(root, "node_modules/typescript/bin/tsc");

const temporary = mkdtempSync(join(tmpdir(), "softlookup-package-"));
after(() => rmSync(temporary, { recursive: true, force: true }));

function run(command, args, { cwd }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const outcome = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"]) {
      child[stream].setEncoding("utf8").on("data", (text) => (outcome[stream] += text));
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...outcome }));
  });
}

async function succeed(command, args, options) {
  const { code, stdout, stderr } = await run(command, args, options);
  assert.equal(code, 0, `${command} ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** A folder with files in it. */
function folder(name, files = {}) {
  const path = join(temporary, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

/** What npm says about the tarball. */
let packed;
/** The folder in which it is installed, and nothing else. */
let consumer;
let elsewhere;

before(async () => {
  const tarballs = folder("tarballs");
  elsewhere = folder("elsewhere");
  const report = await succeed(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", tarballs],
    { cwd: root },
  );
  [packed] = JSON.parse(report);
  consumer = folder("consumer", {
    "package.json": JSON.stringify({ name: "consumer", private: true, type: "module" }),
  });
  // Offline: a package without dependencies wants nothing from a registry.
  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await succeed("npm", ["install", ...flags, join(tarballs, packed.filename)], { cwd: consumer });
});

const installed = (file) => join(consumer, "node_modules/softlookup", file);

/** Runs a module that lies in the consumer's folder, from another one. */
async function runConsumer(name, source) {
  writeFileSync(join(consumer, name), source);
  const outcome = await run(process.execPath, [join(consumer, name)], { cwd: elsewhere });
  assert.equal(outcome.stderr, "");
  assert.equal(outcome.code, 0);
  return outcome.stdout.trim();
}

describe("the tarball", () => {
  const paths = () => packed.files.map(({ path }) => path);

  test("holds the binary, the types, the licences and the READMEs", () => {
    const wanted = [
      "package.json",
      "LICENSE",
      "LICENSES.md",
      "README.md",
      "README.zh.md",
      "dist/index.js",
      "dist/index.d.ts",
      "dist/load.js",
      "dist/load.d.ts",
      "dist/torch.js",
      "dist/torch.d.ts",
      "dist/onnx.js",
      "dist/onnx.d.ts",
      "dist/cli.js",
      "examples/trace_attention_shapes.mjs",
      "dist/types.d.ts",
      "dist/shared.js",
      "dist/softlookup.wasm",
      "dist/softlookup.relaxed.wasm",
      "dist/pool.js",
      "dist/pool.d.ts",
      "dist/pool-worker.js",
    ];
    assert.deepEqual(
      wanted.filter((path) => !paths().includes(path)),
      [],
    );
    for (const path of wanted) assert.ok(readFileSync(installed(path)).length > 0, path);
  });

  test("holds nothing else", () => {
    const known =
      /^(package\.json|LICENSE|LICENSES\.md|README(\.zh)?\.md|dist\/[\w.-]+\.(js|d\.ts|wasm)|examples\/(print|trace_attention_shapes)\.mjs)$/;
    assert.deepEqual(
      paths().filter((path) => !known.test(path)),
      [],
    );
  });

  test("every script has its types, but for what the entries share", () => {
    const scripts = paths().filter(
      (path) => path.endsWith(".js") && !/^dist\/(pool-)?shared\.js$/.test(path),
    );
    assert.ok(scripts.length > 5);
    const untyped = scripts.filter((path) => !paths().includes(path.replace(/\.js$/, ".d.ts")));
    assert.deepEqual(untyped, []);
  });

  test("names the licences of what is compiled in", () => {
    assert.match(readFileSync(installed("LICENSE"), "utf8"), /MIT License/);
    const licences = readFileSync(installed("LICENSES.md"), "utf8");
    for (const name of ["xtensor", "xtl", "Highway", "Emscripten", "musl", "libc++"])
      assert.ok(licences.includes(name), name);
  });
});

describe("its package.json", () => {
  const manifest = () => JSON.parse(readFileSync(installed("package.json"), "utf8"));

  test("wants no other package at run time, and runs nothing when installed", () => {
    const kinds = [
      "dependencies",
      "peerDependencies",
      "optionalDependencies",
      "bundleDependencies",
      "bundledDependencies",
    ];
    for (const kind of kinds) assert.deepEqual(Object.keys(manifest()[kind] ?? {}), [], kind);
    const { scripts = {} } = manifest();
    for (const script of ["preinstall", "install", "postinstall", "prepare"])
      assert.equal(scripts[script], undefined, script);
    const modules = readdirSync(join(consumer, "node_modules")).filter((name) => !name.startsWith("."));
    assert.deepEqual(modules, ["softlookup"]);
  });

  test("puts the types first in every condition, and points at files that exist", () => {
    const missing = [];
    const visit = (entry) => {
      if (typeof entry !== "string") {
        if ("types" in entry) assert.equal(Object.keys(entry)[0], "types");
        Object.values(entry).forEach(visit);
      } else if (!existsSync(installed(entry))) {
        missing.push(entry);
      }
    };
    const { bin, exports, imports = {}, types } = manifest();
    const entries = [
      ".",
      "./load",
      "./pool",
      "./softlookup.wasm",
      "./softlookup.relaxed.wasm",
      "./package.json",
    ];
    assert.ok(entries.every((entry) => entry in exports));
    Object.values(exports).forEach(visit);
    Object.values(imports).forEach(visit);
    visit(types);
    visit(bin);
    assert.deepEqual(missing, []);
  });

  test("is an ES module under a licence, for the Node that it is tested with", () => {
    const { type, license, engines } = manifest();
    assert.equal(type, "module");
    assert.equal(license, "MIT");
    assert.match(engines.node, /^>=\d+/);
  });
});

describe("in Node", () => {
  test("imports from another folder, and computes", async () => {
    const printed = await runConsumer(
      "run.mjs",
      `import { scaledDotProductAttention, tensor } from "softlookup";
       const { output } = scaledDotProductAttention(tensor([[0]]), tensor([[0], [0]]), tensor([[1], [3]]));
       console.log(process.cwd() === ${JSON.stringify(elsewhere)}, output.shape.join(), output.data[0]);`,
    );
    assert.equal(printed, "true 1,1 2");
  });

  test("resolves the binary and its loader", async () => {
    const printed = await runConsumer(
      "resolve.mjs",
      `import { readFileSync } from "node:fs";
       import { load } from "softlookup/load";
       const binary = new URL(import.meta.resolve("softlookup/softlookup.wasm"));
       const own = await load({ wasm: readFileSync(binary) });
       const relaxed = new URL(import.meta.resolve("softlookup/softlookup.relaxed.wasm"));
       console.log(binary.pathname.endsWith("/softlookup.wasm"), own.softmax([0, 0]).data[0], own.simd);
       console.log(readFileSync(relaxed).length > 1000);`,
    );
    assert.equal(printed, "true 0.5 plain\ntrue");
  });

  test("computes over workers", async () => {
    const printed = await runConsumer(
      "pool.mjs",
      `import { createPool } from "softlookup/pool";
       const pool = createPool({ workers: 2 });
       const { output } = await pool.scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]]);
       pool.dispose();
       console.log(output.data[0]);`,
    );
    assert.equal(printed, "2");
  });

  test("loads the binary by the URL that it resolves to", async () => {
    const printed = await runConsumer(
      "url.mjs",
      `import { load } from "softlookup/load";
       const own = await load({ wasm: new URL(import.meta.resolve("softlookup/softlookup.wasm")) });
       console.log(own.softmax([0, 0]).data[0]);`,
    );
    assert.equal(printed, "0.5");
  });

  test("can be imported from CommonJS", async () => {
    const printed = await runConsumer(
      "common.cjs",
      `import("softlookup").then(({ softmax }) => console.log(softmax([0, 0]).data[0]));`,
    );
    assert.equal(printed, "0.5");
  });

  test("computes by PyTorch's and by ONNX's names", async () => {
    const printed = await runConsumer(
      "names.mjs",
      `import { Attention } from "softlookup/onnx";
       import { scaledDotProductAttention } from "softlookup/torch";
       const x = { data: Float32Array.of(1, 3), shape: [1, 1, 2, 1] };
       const options = { is_causal: 1 };
       console.log(scaledDotProductAttention(x, x, x, { isCausal: true }).data[0], Attention({ Q: x, K: x, V: x }, options).Y.data[0]);`,
    );
    assert.equal(printed, "1 1");
  });

  test("brings the command softlookup", async () => {
    const command = join(consumer, "node_modules/.bin/softlookup");
    const traced = await succeed(command, ["trace"], { cwd: elsewhere });
    assert.match(traced, /^x\.shape=\(2, 5, 64\)\n/);
    assert.match(traced, /\nmanual_vs_module_max_abs_diff=0\.000000000000\n$/);
    const { version } = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    assert.equal(await succeed(command, ["--version"], { cwd: elsewhere }), `${version}\n`);
  });

  test("keeps its inner modules to itself", async () => {
    const printed = await runConsumer(
      "inner.mjs",
      `for (const name of ["softlookup/raw", "softlookup/dist/raw.js", "softlookup/dist/index.js"])
         await import(name).then(() => console.log("open"), ({ code }) => console.log(code));`,
    );
    assert.deepEqual(printed.split("\n"), Array(3).fill("ERR_PACKAGE_PATH_NOT_EXPORTED"));
  });
});

describe("its types", () => {
  const source = `
import {
  AttentionError, MultiHeadAttention, boolTensor, checkCausality, cost, faultyAttention, masks,
  scaledDotProductAttention, softmax, tensor, zeros,
  type AttentionStep, type BoolTensor, type CausalityReport, type ErrorCode, type FaultName, type Tensor, type Trace,
} from "softlookup";
import { load, type LoadOptions } from "softlookup/load";
import { createPool, type Pool } from "softlookup/pool";

const x: Tensor = tensor([[1, 2], [3, 4]]);
const keep: BoolTensor = boolTensor([[true, false], [true, true]]);
const { output, weights } = scaledDotProductAttention(x, [[1, 2]], Float64Array.of(1), { mask: keep, causal: "top-left" });
const element: number | undefined = output.data[0];
const maybe: Tensor | undefined = weights;
const trace: Trace<AttentionStep> = scaledDotProductAttention.trace(x, x, x, { causal: true, scale: 1 });
const ids: AttentionStep[] = trace.steps.map(({ id }) => id);
const row: Tensor = softmax(x, { mask: Uint8Array.of(1, 0) });
const foreign: Tensor = softmax({ data: new Float32Array(2), dims: [1, 2] });
const both: BoolTensor | Tensor = masks.and(masks.causal(2), masks.toAdditive(keep));
const attention: MultiHeadAttention = new MultiHeadAttention({ embedDim: 2, numHeads: 1 });
attention.loadStateDict({ in_proj_weight: zeros([6, 2]) });
const result: Tensor = attention.forward(x, x, x, { keyMask: [true, true], needWeights: true }).output;
attention[Symbol.dispose]();
attention.dispose();
const report: Promise<CausalityReport> = checkCausality(({ q, k }) => softmax(q, { mask: k }), { q: x, k: x });
const async: Promise<CausalityReport> = checkCausality(async (input: Tensor) => input, x, { modes: ["large"] });
const name: FaultName = "no-mask";
const faulty: Tensor = faultyAttention(name, x, x, x);
const total: number = cost.parameters({ modelDim: 2, numHeads: 1 }).total;
const options: LoadOptions = { wasm: new URL("https://example.org/softlookup.wasm") };
const own: Promise<{ softmax: typeof softmax }> = load(options);
const pool: Pool = createPool({ workers: 2, simd: "plain" });
const signal = new AbortController().signal;
const pooled: Promise<Tensor> = pool.scaledDotProductAttention(x, x, x, { causal: true, signal }).then((r) => r.output);
const error = new Error();
if (error instanceof AttentionError) { const code: ErrorCode = error.code; void code; }
void [element, maybe, ids, row, foreign, both, result, report, async, faulty, total, own, pooled];

// @ts-expect-error a misspelt option
scaledDotProductAttention(x, x, x, { casual: true });
// @ts-expect-error a cache belongs to one instance
pool.scaledDotProductAttention(x, x, x, { cache: undefined });
// @ts-expect-error no such binary
load({ simd: "fast" });
// @ts-expect-error no such alignment
scaledDotProductAttention(x, x, x, { causal: "middle" });
// @ts-expect-error neither boolean nor float32
softmax(x, { mask: new Float64Array(2) });
// @ts-expect-error numbers are no mask
softmax(x, { mask: [1, 0] });
// @ts-expect-error integers are no floats
softmax(new Int32Array(2));
// @ts-expect-error numHeads is missing
new MultiHeadAttention({ embedDim: 2 });
// @ts-expect-error no such fault
faultyAttention("nothing-wrong", x, x, x);
// @ts-expect-error trace has no such step
trace.steps.filter(({ id }) => id === "logits");
// @ts-expect-error no such code
const wrong: ErrorCode = "OOPS";
// @ts-expect-error tensors are not to be reshaped in place
x.shape.push(1);
`;

  /** Nothing of this repository's settings: libraries that every ES2022 project has, and the types checked as well. */
  const settings = (extra) => ({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: "ES2022",
      types: [],
      skipLibCheck: false,
      ...extra,
    },
    files: ["consumer.ts"],
  });

  for (const [name, extra] of [
    [
      "NodeNext",
      { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022", "DOM", "ESNext.Disposable"] },
    ],
    [
      "Bundler",
      { module: "ESNext", moduleResolution: "Bundler", lib: ["ES2022", "DOM", "ESNext.Disposable"] },
    ],
    [
      "exactOptionalPropertyTypes",
      {
        module: "NodeNext",
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        lib: ["ESNext", "DOM"],
      },
    ],
  ]) {
    test(`check under ${name}`, async () => {
      writeFileSync(join(consumer, "consumer.ts"), source);
      writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(settings(extra)));
      const { code, stdout } = await run(process.execPath, [tsc, "--project", "."], { cwd: consumer });
      assert.equal(stdout, "");
      assert.equal(code, 0);
    });
  }

  test("need no library beyond ES2022 and DOM", async () => {
    const plain = `import { MultiHeadAttention, softmax, type Tensor } from "softlookup";
      const attention = new MultiHeadAttention({ embedDim: 2, numHeads: 1 });
      attention.dispose();
      export const row: Tensor = softmax([0, 0]);\n`;
    writeFileSync(join(consumer, "consumer.ts"), plain);
    const extra = { module: "NodeNext", lib: ["ES2022", "DOM"] };
    writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(settings(extra)));
    const { stdout } = await run(process.execPath, [tsc, "--project", "."], { cwd: consumer });
    assert.equal(stdout, "");
  });

  test("are looked at at all: a wrong consumer does not pass", async () => {
    const wrong = `import { softmax } from "softlookup";\nexport const text: string = softmax([1]);\n`;
    writeFileSync(join(consumer, "consumer.ts"), wrong);
    const extra = { module: "NodeNext", lib: ["ES2022", "DOM", "ESNext.Disposable"] };
    writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(settings(extra)));
    const { code, stdout } = await run(process.execPath, [tsc, "--project", "."], { cwd: consumer });
    assert.notEqual(code, 0);
    assert.match(stdout, /consumer\.ts.*TS2322.*Tensor.*string/);
  });
});

describe("bundled for a browser", () => {
  const base = "/project/demo/";
  const policy = "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
  const page = `<!doctype html><html lang="en"><title>consumer</title><link rel="icon" href="data:,">
    <p id="result"></p><script type="module" src="./main.js"></script></html>`;
  const script = `
    import { AttentionError, MultiHeadAttention, checkCausality, scaledDotProductAttention, softmax } from "softlookup";
    import { load } from "softlookup/load";
    import { createPool } from "softlookup/pool";
    const { output } = scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]]);
    new MultiHeadAttention({ embedDim: 2, numHeads: 1 }).dispose();
    const { verdict } = await checkCausality((x) => softmax(x), [[1, 2], [3, 4]]);
    let code;
    try { softmax("x"); } catch (error) { code = error instanceof AttentionError && error.code; }
    const own = await load();
    const pool = createPool({ workers: 2 });
    const pooled = await pool.scaledDotProductAttention([[0]], [[0], [0]], [[2], [4]]);
    pool.dispose();
    document.querySelector("#result").textContent =
      [output.data[0], verdict, code, own.softmax([0, 0]).data[0], pooled.output.data[0], own.simd].join(" ");`;

  let site;
  let files;

  before(async () => {
    const app = join(consumer, "app");
    mkdirSync(app, { recursive: true });
    writeFileSync(join(app, "index.html"), page);
    writeFileSync(join(app, "main.js"), script);
    site = join(temporary, "site");
    await build({
      root: app,
      base: "./",
      configFile: false,
      logLevel: "warn",
      build: { outDir: site, target: "es2022", modulePreload: false },
    });
    files = readdirSync(site, { recursive: true }).filter((name) => extname(name) !== "");
  });

  /** Serves the bundle under `base`, the binary as `wasmType`. */
  async function withServer(wasmType, use) {
    const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": wasmType };
    const served = [];
    const server = createServer(({ url }, response) => {
      const name = url === base ? "index.html" : url.startsWith(base) ? url.slice(base.length) : "";
      served.push(url);
      if (!files.includes(name)) {
        response.writeHead(404).end();
        return;
      }
      const headers = { "Content-Type": types[extname(name)], "Content-Security-Policy": policy };
      response.writeHead(200, headers).end(readFileSync(join(site, name)));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      return await use(`http://127.0.0.1:${server.address().port}`, served);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  test("the binaries are assets of their own, whole", () => {
    const binaries = files.filter((name) => name.endsWith(".wasm")).sort();
    assert.equal(binaries.length, 2);
    for (const [i, name] of ["softlookup.wasm", "softlookup.relaxed.wasm"].entries())
      assert.deepEqual(readFileSync(join(site, binaries[i])), readFileSync(installed(`dist/${name}`)));
  });

  test("nothing of Node is in it", () => {
    const scripts = files.filter((name) => name.endsWith(".js"));
    assert.ok(scripts.length > 0);
    for (const name of scripts) {
      const code = readFileSync(join(site, name), "utf8");
      assert.doesNotMatch(code, /["'`]node:|__vite-browser-external|\brequire\(|["'`]fs["'`]/, name);
    }
    assert.ok(scripts.some((name) => readFileSync(join(site, name), "utf8").includes(".wasm")));
  });

  for (const wasmType of ["application/wasm", "application/octet-stream"]) {
    test(`works in a sub-folder, under a strict policy, the binary served as ${wasmType}`, async () => {
      await withServer(wasmType, async (origin, served) => {
        const browser = await chromium.launch(launchOptions);
        try {
          const tab = await browser.newPage();
          const troubles = [];
          tab.on("console", (message) => troubles.push(message.text()));
          tab.on("pageerror", (error) => troubles.push(String(error)));
          tab.on("requestfailed", (request) => troubles.push(request.url()));
          const requests = [];
          tab.on("request", (request) => requests.push(request.url()));

          await tab.goto(`${origin}${base}`);
          await tab.waitForFunction(() => document.querySelector("#result").textContent !== "", null, {
            timeout: 20_000,
          });

          assert.equal(await tab.textContent("#result"), "2 causal DTYPE 0.5 3 relaxed");
          assert.deepEqual(troubles, []);
          const binaries = new Set(served.filter((url) => url.endsWith(".wasm")));
          assert.deepEqual(
            [...binaries].map((url) => url.startsWith(base) && url.includes("/softlookup.relaxed-")),
            [true],
          );
          assert.deepEqual(
            requests.filter((url) => !url.startsWith(`${origin}${base}`) && !url.startsWith("data:")),
            [],
          );
          // The policy is in force: an inline script, which it forbids, does not run.
          const ran = await tab.evaluate(() => {
            const inline = document.createElement("script");
            inline.textContent = "globalThis.inlineRan = true";
            document.head.append(inline);
            return globalThis.inlineRan === true;
          });
          assert.equal(ran, false);
        } finally {
          await browser.close();
        }
      });
    });
  }
});
