import { type Fragment, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** What has a maximum count for each owner. */
export type Counted = "folders" | "applications" | "tokens" | "grants" | "organizations";

const countOf: Readonly<Record<Counted, (owner: string, now: Date) => Fragment>> = {
  folders: (orgId) => sql.fragment`SELECT count(*) FROM folders WHERE org_id = ${orgId}`,
  applications: (orgId) => sql.fragment`SELECT count(*) FROM applications WHERE org_id = ${orgId}`,
  /** Those that can still be used. */
  tokens: (orgId, now) => sql.fragment`
    SELECT count(*) FROM access_tokens
    WHERE org_id = ${orgId} AND used_at IS NULL AND revoked_at IS NULL
      AND expires_at > ${now.toISOString()}::timestamptz`,
  grants: (clientId) => sql.fragment`SELECT count(*) FROM client_folders WHERE client_id = ${clientId}`,
  organizations: (userId) => sql.fragment`SELECT count(*) FROM memberships WHERE user_id = ${userId}`,
};

/** Counts what an owner has. Until the transaction ends, another that counts the same waits. */
export async function countLocked(tx: Queryable, counted: Counted, owner: string, now: Date): Promise<number> {
  const name = `coffer auth-sm count ${counted} ${owner}`;
  await tx.one(sql.type(z.object({ locked: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))::text AS locked
  `);
  return tx.oneFirst(sql.type(z.object({ count: z.number() }))`SELECT (${countOf[counted](owner, now)}) AS count`);
}
