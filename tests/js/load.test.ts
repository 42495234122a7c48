// Loading by hand: from whatever holds the binary, and one error when it does not.

import { describe, expect, inject, test } from "vitest";
import * as ready from "softlookup";
import { AttentionError, load, type LoadOptions } from "softlookup/load";
import relaxedUrl from "../../dist/softlookup.relaxed.wasm?url&inline";
import dataUrl from "../../dist/softlookup.wasm?url&inline";
import { expectError, expectRejection, expectTensor, flat, leavesNothingAlive } from "./support.js";

leavesNothingAlive();

type Instance = Awaited<ReturnType<typeof load>>;

const bytes = new Uint8Array(await (await fetch(dataUrl)).arrayBuffer());
const respond = (body: BodyInit | null, type?: string, status = 200) =>
  new Response(body, { status, headers: type === undefined ? {} : { "Content-Type": type } });

function expectWorking(instance: Instance): void {
  const result = instance.scaledDotProductAttention([[0]], [[0], [0]], [[1], [3]], { needWeights: true });
  expectTensor(result.output, [1, 1], [2]);
  expectTensor(result.weights as ready.Tensor, [1, 2], [0.5, 0.5]);
}

test("the bytes of these tests are a WebAssembly binary", () => {
  expect(Array.from(bytes.slice(0, 4))).toEqual([0, 0x61, 0x73, 0x6d]);
  expect(WebAssembly.validate(bytes)).toBe(true);
});

describe("from what holds the binary", () => {
  const inTheMiddle = () => {
    const larger = new Uint8Array(bytes.length + 100);
    larger.set(bytes, 37);
    return larger.subarray(37, 37 + bytes.length);
  };

  test.each<[string, () => LoadOptions["wasm"] | Promise<LoadOptions["wasm"]>]>([
    ["nothing named: the file beside the module", () => undefined],
    ["a URL", () => new URL(dataUrl)],
    ["the text of a URL", () => dataUrl],
    // In a browser an http: URL, in Node a file: URL.
    ["a URL relative to a module", () => new URL("../../dist/softlookup.wasm", import.meta.url)],
    ["the text of such a URL", () => new URL("../../dist/softlookup.wasm", import.meta.url).href],
    ["bytes", () => bytes],
    ["bytes in the middle of a larger buffer", inTheMiddle],
    ["an ArrayBuffer", () => bytes.slice().buffer],
    ["a Response", () => fetch(dataUrl)],
    ["a Response as application/wasm", () => respond(bytes, "application/wasm")],
    ["a Response with a parameter in its type", () => respond(bytes, "application/wasm; charset=utf-8")],
    ["a Response with the wrong type", () => respond(bytes, "application/octet-stream")],
    ["a Response that says it is text", () => respond(bytes, "text/plain")],
    ["a Response without a type", () => respond(bytes)],
    ["a compiled module", () => WebAssembly.compile(bytes)],
  ])("%s", async (_, wasm) => {
    expectWorking(await load({ wasm: await wasm() }));
  });

  test("without options", async () => {
    expectWorking(await load());
    expectWorking(await load({}));
  });

  test("without cross-origin isolation, which no static host gives", async () => {
    expect((globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated ?? false).toBe(false);
    expectWorking(await load());
  });

  test("one compiled module serves many instances", async () => {
    const module = await WebAssembly.compile(bytes);
    const instances = await Promise.all([1, 2, 3].map(() => load({ wasm: module })));
    for (const instance of instances) {
      expectWorking(instance);
    }
  });

  test("what was given is left as it was", async () => {
    const mine = bytes.slice();
    await load({ wasm: mine });
    expect([mine.length, mine.every((byte, i) => byte === bytes[i])]).toEqual([bytes.length, true]);
    expectWorking(await load({ wasm: mine }));
  });
});

describe("one LOAD error", () => {
  const html = "<!doctype html><title>Not found</title>";
  const text = new TextEncoder();
  /** A module that is one, but not ours: nothing in it. */
  const foreign = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

  test.each<[string, () => unknown]>([
    ["missing", () => respond(null, undefined, 404)],
    ["missing, with a page that says so", () => respond(html, "text/html", 404)],
    ["a server's fault", () => respond(bytes, "application/wasm", 500)],
    ["HTML in its place", () => respond(html, "text/html")],
    ["HTML that claims to be WebAssembly", () => respond(html, "application/wasm")],
    ["HTML as bytes", () => text.encode(html)],
    ["empty", () => new Uint8Array(0)],
    ["an empty Response", () => respond(null, "application/wasm")],
    ["truncated in the header", () => bytes.slice(0, 6)],
    // The first eight bytes alone are a valid module, without anything in it.
    ["truncated after the header", () => bytes.slice(0, 8)],
    ["truncated in the middle", () => bytes.slice(0, bytes.length / 2)],
    [
      "truncated in the middle, as a Response",
      () => respond(bytes.slice(0, bytes.length / 2), "application/wasm"),
    ],
    ["truncated by one byte", () => bytes.slice(0, -1)],
    ["a byte changed in the header", () => bytes.slice().fill(1, 0, 1)],
    ["another module", () => foreign],
    ["another module, compiled", () => new WebAssembly.Module(foreign)],
    ["a URL that leads nowhere", () => "data:application/wasm"],
    ["no URL", () => "http://"],
    ["a scheme that nobody knows", () => "nowhere:softlookup.wasm"],
    [
      "a Response already read",
      async () => {
        const used = respond(bytes, "application/wasm");
        await used.arrayBuffer();
        return used;
      },
    ],
    ["a number", () => 42],
    ["an object", () => ({})],
  ])("%s", async (_, wasm) => {
    await expectRejection(
      async () => load({ wasm: (await wasm()) as NonNullable<LoadOptions["wasm"]> }),
      "LOAD",
      /softlookup\.wasm/,
    );
    expectWorking(await load({ wasm: bytes }));
  });

  test("a source that fails is the error's cause", async () => {
    const failing = new ReadableStream({
      pull() {
        throw new RangeError("the line went dead");
      },
    });
    const error: unknown = await load({ wasm: respond(failing) }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AttentionError);
    expect((error as AttentionError).code).toBe("LOAD");
    expect((error as AttentionError).cause).toBeInstanceOf(Error);
  });

  test("several at once: each rejects on its own", async () => {
    const attempts = await Promise.allSettled([
      load({ wasm: bytes.slice(0, 8) }),
      load({ wasm: bytes }),
      load({ wasm: bytes.slice(0, 100) }),
    ]);
    expect(attempts.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  });
});

describe("which of the two binaries", () => {
  test("the best that the engine can run, in the ready-made package and in others", async () => {
    expect(ready.simd).toBe(inject("simd"));
    expect((await load()).simd).toBe(inject("simd"));
  });

  test("the plain one on request, anywhere", async () => {
    const instance = await load({ simd: "plain" });
    expect(instance.simd).toBe("plain");
    expectWorking(instance);
  });

  test("whoever brings a binary finds out which it is", async () => {
    expect((await load({ wasm: bytes })).simd).toBe("plain");
  });

  if (inject("simd") === "relaxed") {
    test("the relaxed one on request, and when it is brought", async () => {
      for (const options of [{ simd: "relaxed" }, { wasm: relaxedUrl }] as const) {
        const instance = await load(options);
        expect(instance.simd).toBe("relaxed");
        expectWorking(instance);
      }
    });
  } else {
    test("the relaxed one where the engine cannot: a LOAD error that says so", async () => {
      const reason = /^softlookup\.relaxed\.wasm: .*no relaxed SIMD/;
      await expectRejection(() => load({ simd: "relaxed" }), "LOAD", reason);
    });
  }

  test.each(["fast", "", null, 1, {}])("simd: %j is an OPTION error", async (simd) => {
    await expectRejection(() => load({ simd: simd as "plain" }), "OPTION", /simd.*"plain".*"relaxed"/);
  });

  test("simd beside a binary is an OPTION error", async () => {
    await expectRejection(() => load({ simd: "plain", wasm: bytes }), "OPTION", /simd.*wasm/);
  });
});

describe("two instances", () => {
  test("share nothing", async () => {
    const [one, two] = await Promise.all([load({ wasm: bytes }), load({ wasm: bytes })]);
    expect(one.MultiHeadAttention).not.toBe(two.MultiHeadAttention);
    const total = two.memoryUsage().total;
    const wide = 2 ** 23;
    one.rowSums({ data: new Float32Array(wide), shape: [1, wide] });
    expect(one.memoryUsage().total).toBeGreaterThan(total);
    expect(two.memoryUsage().total).toBe(total);

    const attention = new one.MultiHeadAttention({ embedDim: 1, numHeads: 1 });
    expect([one, two, ready].map((instance) => instance.memoryUsage().objects)).toEqual([1, 0, 0]);
    expectWorking(two);
    attention.dispose();
    expect(one.memoryUsage().objects).toBe(0);
    expectWorking(one);
  });

  test("throw the same AttentionError", async () => {
    const instance = await load({ wasm: bytes });
    expect(ready.AttentionError).toBe(AttentionError);
    expectError(
      () => instance.softmax(flat([0, 0], 2), { mask: [true], causal: true }),
      "AMBIGUOUS_CAUSAL",
      /1.*2/,
    );
  });
});

test("the ready-made package is an instance, and what needs none", async () => {
  const names = Object.keys(await load());
  expect(Object.keys(ready)).toEqual(
    expect.arrayContaining(["scaledDotProductAttention", "MultiHeadAttention", "masks", "checkCausality"]),
  );
  const apart = Object.keys(ready).filter((name) => !names.includes(name));
  expect(apart.sort()).toEqual(["AttentionError", "boolTensor", "errorCodes", "tensor", "zeros"]);
  expect(ready.tensor([1]).shape).toEqual([1]);
});
