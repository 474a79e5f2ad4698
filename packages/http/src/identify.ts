import type { Confirmable } from "./authenticate.ts";
import { isConfirmable } from "./authenticate.ts";
import type { Exchange } from "./exchange.ts";
import type { Route } from "./route.ts";

/** For how long it holds who calls: a session that ends meanwhile is heard of within a second, however slow the body. */
const holdsMilliseconds = 250;

/** Whether the body took so long that its caller must be identified again. */
export function isOutdated<Deps, Caller>(row: Route<Deps, Caller>, identifiedAt: number): boolean {
  return row.body !== undefined && performance.now() - identifiedAt > holdsMilliseconds;
}

/** Finds out who calls, and whether he still may unless the route's operation asks that itself. */
export async function identify<Deps, Caller>(
  row: Route<Deps, Caller>,
  deps: Deps,
  exchange: Exchange<Caller>,
): Promise<Caller> {
  const { headers } = exchange.request;
  // Nobody, should this be the second time and in vain.
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
