import type { ErrorCode } from "./codes.ts";
import { statusOf } from "./codes.ts";

/** One thing that is wrong with one field of a request. `issue` never quotes the value. */
export interface ErrorDetail {
  field: string;
  issue: string;
}

export interface ServiceErrorOptions {
  details?: ErrorDetail[];
  /** Whole seconds after which the same request may succeed. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * The one error that crosses a border (HTTP, bus). Anything else that is thrown is a bug: it is logged and answered
 * as `internal_error` without detail.
 *
 * `message` is shown to the caller: a sentence that says what was wrong and what to do, and never quotes ciphertext,
 * tokens or bodies.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The HTTP status of this error's code. */
  get status(): number {
    return statusOf(this.code);
  }
}
