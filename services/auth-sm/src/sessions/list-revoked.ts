import type { revokedSessions } from "@coffer/events";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { listRevokedSessionsFrom } from "../store/accounts/sessions.ts";

/** Keeps a page well below the size limit of the bus. */
const pageSize = 2_000;

/** coffer.rpc.auth-sm.revoked-sessions */
export async function listRevoked(
  { database }: Pick<Deps, "database">,
  { since, after }: z.infer<typeof revokedSessions.input>,
): Promise<z.infer<typeof revokedSessions.output>> {
  const rows = await listRevokedSessionsFrom(database.pool, { since, after, limit: pageSize });
  return {
    sessions: rows.map(({ id, revoked_at }) => ({ session_id: id, at: revoked_at })),
    has_more: rows.length === pageSize,
  };
}
