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

/** Lets the core's errors name arguments as the caller knows them. */
export function renaming<Result>(names: Readonly<Record<string, string>>, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    if (error instanceof AttentionError) {
      error.message = error.message.replace(/\w+(?=[:.]| \[)/g, (name) => names[name] ?? name);
    }
    throw error;
  }
}
