import { type Confirmable, isConfirmable } from "./authenticate.ts";
import type { Exchange } from "../exchange.ts";
import type { Route } from "../route.ts";

/** An identity is valid for so long: a slow body must not delay the effect of a revocation. */
const holdsMilliseconds = 250;

/** Whether the body was so slow that the caller must be identified again. */
export function isOutdated<Deps, Caller>(row: Route<Deps, Caller>, identifiedAt: number): boolean {
  return row.body !== undefined && performance.now() - identifiedAt > holdsMilliseconds;
}

/** Identifies the caller, and confirms the caller's state unless the operation does. */
export async function identify<Deps, Caller>(
  row: Route<Deps, Caller>,
  deps: Deps,
  exchange: Exchange<Caller>,
): Promise<Caller> {
  const { headers } = exchange.request;
  // If a repeated identification fails, there is no caller.
  exchange.caller = undefined;
  const found: Caller | Confirmable<Caller> = await row.caller(
    { authorization: headers.authorization, headers, request: exchange.context },
    deps,
  );
  if (!isConfirmable(found)) return (exchange.caller = found);
  exchange.caller = found.caller;
  if (row.lazy) exchange.confirm = found.confirm;
  else await found.confirm();
  return found.caller;
}
