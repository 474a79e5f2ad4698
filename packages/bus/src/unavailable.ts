import { ServiceError } from "@coffer/errors";

/** The error of every request that the other side may never have seen, or whose answer did not come. */
export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterSeconds: 1, cause });
}
