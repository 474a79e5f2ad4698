import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { type FailedLoginStart, takeFailedLoginStarts } from "../store/accounts/login-starts.ts";
import { auditUserEvent } from "./user-events.ts";

const batch = 100;

/**
 * Writes audit records for started logins that failed. The transaction that writes the record
 * deletes the row, and one replica at a time has the row. So each failure is recorded once, also
 * when a replica dies.
 */
export function loginStartSweep(deps: Deps): Sweep {
  return {
    everyMilliseconds: 1000,
    batch: async () => (await recordFailures(deps)) === batch,
    failure: "cannot record failed logins now; a later sweep retries",
  };
}

/** Records one batch and returns its size. */
async function recordFailures(deps: Deps): Promise<number> {
  const taken = await deps.database.transaction(async (tx) => {
    const failed = await takeFailedLoginStarts(tx, { now: deps.now(), limit: batch });
    for (const start of failed) if (start.user_id !== null) await recordFailure(tx, deps, start, start.user_id);
    return failed;
  });
  for (const start of taken) {
    deps.authFailures.inc({ reason: start.user_id === null ? "unknown_email" : reasonOf(start) });
    const { user_id, request_id } = start;
    if (user_id === null) deps.telemetry.log.info({ request_id }, "a login for an unknown e-mail");
  }
  return taken.length;
}

/** The actor is the account that was tried. The identity is not proven. */
function recordFailure(tx: Transaction, deps: Deps, start: FailedLoginStart, userId: string): Promise<void> {
  return auditUserEvent(tx, deps, requestOf(start), userId, {
    action: "user.login.failed",
    actor: { type: "user", id: userId },
    target: { type: "user", id: userId },
    outcome: "failure",
    reason: reasonOf(start),
    status: start.status,
  });
}

/** A login that reached the second factor proved the password or the recovery key. */
function reasonOf({ proven, refused }: FailedLoginStart): "otp_required" | "invalid_credentials" | "unfinished" {
  if (proven) return "otp_required";
  return refused ? "invalid_credentials" : "unfinished";
}

/** The call that failed: the last wrong finish, or the start that was never finished. */
function requestOf(start: FailedLoginStart): RequestContext {
  return {
    id: start.request_id,
    method: start.method,
    route: start.route,
    ip: start.ip,
    userAgent: start.user_agent,
    time: start.expires_at,
  };
}
