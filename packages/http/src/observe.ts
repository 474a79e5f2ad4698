import type { Telemetry } from "@coffer/telemetry";
import type { RequestContext } from "./request-context.ts";

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

type Observed = Pick<RequestContext, "id" | "method" | "route">;

/** Makes the function that measures and logs an answered request. */
export function createObserve({ log, metrics }: Telemetry) {
  const duration = metrics.histogram(
    "http_server_request_duration_seconds",
    "Time from a request's headers to its response",
    buckets,
    ["http_request_method", "http_route", "http_response_status_code"],
  );
  return ({ id, method, route }: Observed, status: number, seconds: number): void => {
    duration.observe(seconds, {
      http_request_method: methods.has(method) ? method : "_OTHER",
      http_route: route,
      http_response_status_code: status,
    });
    if (log.isLevelEnabled("debug")) log.debug({ request_id: id, method, route, status, seconds }, "request");
  };
}
