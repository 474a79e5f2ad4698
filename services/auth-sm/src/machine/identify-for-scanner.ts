import { ServiceError } from "@coffer/errors";
import type { identifyMachine } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { z } from "zod";
import { requireClient } from "../access/client.ts";
import { authenticateMachine, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { itself, recordRefusedCall } from "../refusals.ts";

const audit = { action: "client.access.denied", target: itself } as const;

type Input = z.infer<typeof identifyMachine.input>;

/**
 * coffer.rpc.auth-sm.identify-machine
 * @throws ServiceError `invalid_token` for an invalid token and for a client that is revoked or
 * expired, `access_denied` for an address that the client may not call from
 */
export async function identifyForScanner(
  deps: Deps,
  { token, request }: Input,
): Promise<z.infer<typeof identifyMachine.output>> {
  const { id, method, route, ip, user_agent: userAgent, time } = request;
  const context: RequestContext = { id, method, route, ip, userAgent, time };
  const caller = await machineOf(deps, token, context);
  try {
    const { orgId, client } = await requireClient(deps.database.pool, deps, caller);
    return { client_id: caller.clientId, org_id: orgId, application_id: client.application_id };
  } catch (error) {
    const call = { caller, params: {}, query: undefined, body: undefined, request: context };
    if (error instanceof ServiceError) await recordRefusedCall(deps, audit, call, error);
    throw error;
  }
}

async function machineOf(deps: Deps, token: string, request: RequestContext): Promise<Machine> {
  const found = await authenticateMachine({ authorization: `Bearer ${token}`, headers: {}, request }, deps);
  return "caller" in found ? found.caller : found;
}
