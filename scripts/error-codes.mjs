// src/error_codes.def, the one list of error codes → bindings/js/error-codes.ts

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Failure, root, runAsScript } from "./run.mjs";

const target = `${root}bindings/js/error-codes.ts`;

export function generateErrorCodes() {
  const list = readFileSync(`${root}src/error_codes.def`, "utf8");
  const codes = [...list.matchAll(/^X\((\w+), "(.*)"\)$/gm)];
  if (codes.length === 0 || codes.length !== list.match(/^X\(/gm)?.length) {
    throw new Failure('src/error_codes.def: every entry must be a line X(NAME, "meaning")');
  }
  const text = [
    "// Generated from src/error_codes.def.",
    "",
    "/** Every code of AttentionError. */",
    "export const errorCodes = [",
    ...codes.map(([, name, meaning]) => `  /** ${meaning} */\n  "${name}",`),
    "] as const;",
    "",
    "export type ErrorCode = (typeof errorCodes)[number];",
    "",
  ].join("\n");
  if (!existsSync(target) || readFileSync(target, "utf8") !== text) writeFileSync(target, text);
}

await runAsScript(import.meta.url, generateErrorCodes);
