import type { ServiceError } from "@coffer/errors";
import { answer } from "./answer.ts";
import type { AppOptions } from "../create-app.ts";
import type { Exchange } from "../exchange.ts";
import { logFailure } from "./log-failure.ts";
import { refusalBody, refusalHeaders, visibleError } from "./refusal.ts";
import type { Route } from "../route.ts";

/**
 * Makes the function that sends an error response, or cuts a response that has begun. Returns the
 * status.
 */
export function createRefuse<Deps, Caller>({ onRefused, telemetry }: AppOptions<Deps, Caller>) {
  return async function refuse(
    row: Route<Deps, Caller> | undefined,
    exchange: Exchange<Caller>,
    thrown: unknown,
  ): Promise<number> {
    const error = await onRecord(row, exchange, await confirmed(exchange, visibleError(thrown)));
    const { context, headers } = exchange;
    logFailure(telemetry.log, error, context);
    if (exchange.response.headersSent) {
      exchange.response.destroy();
      return error.status;
    }
    return answer(exchange, error.status, [...headers, ...refusalHeaders(error)], refusalBody(error, context.id));
  };

  /**
   * Confirms the caller before a refusal for the request's form: a revoked caller gets 401 instead.
   */
  async function confirmed({ confirm }: Exchange<Caller>, error: ServiceError): Promise<ServiceError> {
    if (confirm === undefined || ![400, 404, 413].includes(error.status)) return error;
    try {
      await confirm();
      return error;
    } catch (reason) {
      return visibleError(reason);
    }
  }

  /** Audits the refusal before its response; if that fails, so does the request. */
  async function onRecord(
    row: Route<Deps, Caller> | undefined,
    { admitted, caller, call, context, params }: Exchange<Caller>,
    error: ServiceError,
  ): Promise<ServiceError> {
    if (row === undefined || onRefused === undefined || !admitted || error.status >= 500) return error;
    try {
      await onRefused(row, { caller, params, query: call?.query, body: call?.body, request: context }, error);
      return error;
    } catch (reason) {
      return visibleError(reason);
    }
  }
}
