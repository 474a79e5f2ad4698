import type { Exchange } from "../exchange.ts";
import { mayExceed } from "./read-body.ts";
import { pathParams } from "./read-call.ts";
import type { PermitCall, Route } from "../route.ts";

/** Smaller bodies cost less than a separate authorization. */
const largeBytes = 64 * 1024;

/**
 * Before a large body is read: confirms the caller and authorizes the path.
 * @throws ServiceError (401, 403, 404)
 */
export async function permitLargeBody<Deps, Caller>(
  row: Route<Deps, Caller>,
  deps: Deps,
  exchange: Exchange<Caller>,
  caller: Caller,
): Promise<void> {
  const { request, context, params, confirm } = exchange;
  if (row.body === undefined || row.bodyLimitBytes <= largeBytes || !mayExceed(request, largeBytes)) return;
  await confirm?.();
  // A refusal of this request needs no second confirmation.
  exchange.confirm = undefined;
  const call = { caller, params: pathParams(row, params, request), request: context };
  await row.permit?.(deps, call as PermitCall<never, never>); // made by the row's own schemas
}
