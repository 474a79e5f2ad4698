import { statusOf, type ErrorCode } from "@coffer/contract";

/** A problem of one field of a request. `issue` never quotes the value. */
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
 * The only error that crosses a border (HTTP, bus). Any other error is a bug: it is logged and
 * answered as `internal_error` without detail. The caller sees `message`: it says what was wrong
 * and what to do, and never quotes ciphertext, tokens or bodies.
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

  get status(): number {
    return statusOf(this.code);
  }
}
