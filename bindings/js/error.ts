import type { ErrorCode } from "./error-codes.js";

/** What every function of the package throws. `code` is stable; `message` names the argument and the shapes. */
export class AttentionError extends Error {
  override readonly name = "AttentionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
