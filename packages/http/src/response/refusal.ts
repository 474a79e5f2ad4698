import { ServiceError } from "@coffer/errors";

/**
 * The error for the caller: anything but a ServiceError becomes `internal_error` without detail.
 */
export function visibleError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError("internal_error", "something went wrong here; the request id finds it in the log", {
    cause: thrown,
  });
}

/** The body of a refusal. */
export function refusalBody(error: ServiceError, requestId: string): string {
  return JSON.stringify({
    error: error.code,
    message: error.message,
    request_id: requestId,
    details: error.details,
  });
}

/** The headers of an error's status, as name, value, name, value. */
export function refusalHeaders(error: ServiceError): string[] {
  const { status, retryAfterSeconds } = error;
  const headers: string[] = [];
  if (status === 401) headers.push("WWW-Authenticate", "Bearer");
  if (retryAfterSeconds !== undefined || status === 503 || status === 429)
    headers.push("Retry-After", String(Math.max(1, Math.ceil(retryAfterSeconds ?? 1))));
  return headers;
}

/** The error for an unknown route, method or id. */
export function nothingAt(path: string, message: string): ServiceError {
  return new ServiceError(path.startsWith("/api/sm/") ? "secret_not_found" : "not_found", message);
}
