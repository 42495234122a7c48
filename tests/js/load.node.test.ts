// Loading in Node: from anywhere, over HTTP, and without a trace in the process.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { load } from "softlookup/load";
import { built, runModule } from "./child.js";
import { expectRejection, expectTensor, leavesNothingAlive } from "./support.js";

leavesNothingAlive();

const elsewhere = mkdtempSync(join(tmpdir(), "softlookup-"));
afterAll(() => {
  rmSync(elsewhere, { recursive: true });
});

const wasm = readFileSync(new URL("../../dist/softlookup.wasm", import.meta.url));

describe("a process of its own, in another folder", { timeout: 30_000 }, () => {
  test("imports the package and computes", async () => {
    const outcome = await runModule(
      `import { scaledDotProductAttention } from ${built("index.js")};
       const { output } = scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]]);
       console.log(JSON.stringify([output.shape, [...output.data]]));`,
      { cwd: elsewhere },
    );
    expect(outcome).toEqual({ code: 0, stdout: "[[1,1],[2]]\n", stderr: "" });
  });

  test("needs no code generation from text", async () => {
    const outcome = await runModule(
      `import { softmax, faultyAttention, MultiHeadAttention } from ${built("index.js")};
       let refused = false;
       try { new Function("return 1"); } catch { refused = true; }
       new MultiHeadAttention({ embedDim: 2, numHeads: 1 }).dispose();
       console.log(refused, softmax([0, 0]).data[0], faultyAttention.names.length > 0);`,
      { cwd: elsewhere, flags: ["--disallow-code-generation-from-strings"] },
    );
    expect(outcome).toEqual({ code: 0, stdout: "true 0.5 true\n", stderr: "" });
  });

  test("starts nothing of Node that it can do without", async () => {
    const outcome = await runModule(
      `const asked = [];
       for (const name of ["fetch", "Response", "Request", "Headers", "FormData", "WebSocket", "crypto"]) {
         const { get } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
         Object.defineProperty(globalThis, name, { get() { asked.push(name); return get?.call(globalThis); } });
       }
       const { softmax } = await import(${built("index.js")});
       console.log(JSON.stringify([softmax([0, 0]).data[0], asked]));`,
      { cwd: elsewhere },
    );
    expect(outcome).toEqual({ code: 0, stdout: "[0.5,[]]\n", stderr: "" });
  });

  test("ten instances add no handlers to the process", async () => {
    const outcome = await runModule(
      `const events = ["uncaughtException", "unhandledRejection", "exit", "beforeExit", "SIGINT", "SIGTERM", "warning"];
       const count = () => JSON.stringify(events.map((event) => process.listenerCount(event)));
       const before = count();
       await import(${built("index.js")});
       const { load } = await import(${built("load.js")});
       const instances = [];
       for (let i = 0; i < 10; i++) instances.push(await load());
       console.log(count() === before, instances.every(({ softmax }) => softmax([0, 0]).data[1] === 0.5));`,
      { cwd: elsewhere },
    );
    expect(outcome).toEqual({ code: 0, stdout: "true true\n", stderr: "" });
  });

  test("each failed load rejects once, and nothing else is said about it", async () => {
    const outcome = await runModule(
      `import { readFileSync } from "node:fs";
       import { load } from ${built("load.js")};
       let unhandled = 0;
       process.on("unhandledRejection", () => unhandled++);
       process.on("uncaughtException", () => unhandled++);
       const bytes = readFileSync(new URL(${built("softlookup.wasm")}));
       const attempts = [
         bytes.subarray(0, 8),
         bytes.subarray(0, 5000),
         new TextEncoder().encode("<!doctype html>"),
         new URL("missing.wasm", ${built("index.js")}),
         "http://127.0.0.1:1/softlookup.wasm",
         new Response(null, { status: 404 }),
       ];
       const codes = [];
       for (const wasm of attempts) await load({ wasm }).then(() => codes.push("loaded"), ({ code }) => codes.push(code));
       await new Promise((resolve) => setTimeout(resolve, 50));
       const { softmax } = await load();
       console.log(JSON.stringify({ codes, unhandled, right: softmax([0, 0]).data[0] === 0.5 }));`,
      { cwd: elsewhere },
    );
    expect(outcome).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ codes: Array(6).fill("LOAD"), unhandled: 0, right: true })}\n`,
      stderr: "",
    });
  });
});

describe("over HTTP", () => {
  const answers: Record<string, (response: ServerResponse) => void> = {
    "/right.wasm": (response) => response.writeHead(200, { "Content-Type": "application/wasm" }).end(wasm),
    "/stream.wasm": (response) =>
      response.writeHead(200, { "Content-Type": "application/octet-stream" }).end(wasm),
    "/untyped.wasm": (response) => response.writeHead(200).end(wasm),
    "/moved.wasm": (response) => response.writeHead(302, { Location: "/right.wasm" }).end(),
    "/page.wasm": (response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>"),
    "/truncated.wasm": (response) =>
      response.writeHead(200, { "Content-Type": "application/wasm" }).end(wasm.subarray(0, 5000)),
    "/cut.wasm": (response) => {
      response.writeHead(200, { "Content-Type": "application/wasm", "Content-Length": wasm.length });
      response.write(wasm.subarray(0, 5000), () => response.destroy());
    },
  };
  const server = createServer(({ url = "" }, response) => {
    const answer = answers[url];
    if (answer) {
      answer(response);
    } else {
      response.writeHead(404).end();
    }
  });
  const address = (path: string) =>
    new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  test.each(["/right.wasm", "/stream.wasm", "/untyped.wasm", "/moved.wasm"])("%s loads", async (path) => {
    for (const wasmSource of [address(path), address(path).href, await fetch(address(path))]) {
      const instance = await load({ wasm: wasmSource });
      expectTensor(instance.softmax([0, 0]), [2], [0.5, 0.5]);
    }
  });

  test.each(["/nowhere.wasm", "/page.wasm", "/truncated.wasm", "/cut.wasm"])(
    "%s is a LOAD error",
    async (path) => {
      await expectRejection(() => load({ wasm: address(path) }), "LOAD", /softlookup\.wasm/);
    },
  );

  test("the error for a missing file says where it was looked for", async () => {
    await expectRejection(() => load({ wasm: address("/nowhere.wasm") }), "LOAD", /\/nowhere\.wasm.*404/);
  });
});
