import { ServiceError } from "@coffer/errors";

/** The error of a request without a response. */
export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterSeconds: 1, cause });
}
