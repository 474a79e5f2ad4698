import { ServiceError } from "@coffer/errors";
import { auditOf, type RequestContext } from "@coffer/http";
import { TokenRejection } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import { findClientOrg } from "../store/machines/clients.ts";

/** An id that no client has. */
const noClientId = "00000000-0000-0000-0000-000000000000";

/**
 * Records a refused token. A token that names an existing client is recorded in its organization's
 * audit, others in a metric, and an unknown client also in a log line. So an attacker cannot fill
 * an audit log. An unknown client takes as long, so that the time does not reveal which clients
 * exist.
 */
export async function recordRejectedToken(deps: Deps, request: RequestContext, error: unknown): Promise<void> {
  if (!(error instanceof ServiceError) || !(error.cause instanceof TokenRejection)) return;
  const { reason, clientId } = error.cause;
  deps.authFailures.inc({ reason });
  if (reason === "unknown_client") {
    deps.telemetry.log.info({ request_id: request.id }, "a token of an unknown client");
    await findClientOrg(deps.database.pool, noClientId);
    await deps.audit(null);
    return;
  }
  const client = clientId === undefined ? null : await findClientOrg(deps.database.pool, clientId);
  if (client === null || clientId === undefined) return;
  await deps.audit(
    auditOf(deps, request, {
      org_id: client.org_id,
      action: "client.auth.failed",
      actor: { type: "anonymous", id: null },
      target: {
        type: "client",
        id: clientId,
        ...(client.application_id === null ? {} : { parent_id: client.application_id }),
      },
      outcome: "failure",
      reason,
      status: error.status,
    }),
  );
}
