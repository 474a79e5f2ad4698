import type { ServiceError } from "@coffer/errors";
import type { Logger } from "@coffer/telemetry";
import type { RequestContext } from "../request-context.ts";

/** Logs a 5xx response: a bug with its error, an unavailable store with its cause. */
export function logFailure(log: Logger, error: ServiceError, { id, method, route }: RequestContext): void {
  if (error.status < 500) return;
  const fields = { err: error.cause ?? error, request_id: id, method, route };
  if (error.code === "internal_error") log.error(fields, "a request failed");
  else log.warn(fields, "a request could not be served");
}
