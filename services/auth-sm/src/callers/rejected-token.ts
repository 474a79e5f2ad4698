import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import { TokenRejection } from "@coffer/tokens";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { findClientOrg } from "../store/clients.ts";

/** The id of no client. */
const nobody = "00000000-0000-0000-0000-000000000000";

/**
 * Records that a token was refused: in the audit of its client's organization when it names a client that exists,
 * otherwise as a metric, and of an unknown client as a log line, so that nobody fills an audit with inventions. An unknown
 * client takes as long: the time must not tell which clients exist.
 */
export async function recordRejectedToken(deps: Deps, request: RequestContext, error: unknown): Promise<void> {
  if (!(error instanceof ServiceError) || !(error.cause instanceof TokenRejection)) return;
  const { reason, clientId } = error.cause;
  deps.authFailures.inc({ reason });
  if (reason === "unknown_client") {
    deps.telemetry.log.info({ request_id: request.id }, "a token of an unknown client");
    await findClientOrg(deps.database.pool, nobody);
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
