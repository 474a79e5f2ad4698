import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { Asker } from "../store/secret-reads.ts";

/** The caller as the prepared statements need it. */
export function askerOf(deps: Deps, caller: Machine): Asker {
  return { clientId: caller.clientId, ip: caller.ip, now: deps.now() };
}
