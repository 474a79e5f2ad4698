import { memberStatuses, permissions, roles } from "@coffer/contract";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { clientState, clientStateColumns, requestValues } from "../machines/clients.ts";
import type { CallingClient } from "./secret-reads.ts";
import { headsDigest, type Scope, secretsDigest } from "./secret-batches.ts";

const clientInScope = clientState.extend({ folder_granted: z.boolean() });
/**
 * A client, and whether it has a grant on the folder that the request names; true without a name.
 */
export type ScopedClient = z.infer<typeof clientInScope>;

/** The scope of a machine: all folders on which it has a grant, or the one that it names. */
export function machineScope(
  { clientId, ip, now: time }: CallingClient,
  named: string | undefined,
): Scope<ScopedClient> {
  const request = requestValues({ now: time, ip });
  const { now } = request;
  const granted = sql.fragment`
    SELECT folder_id FROM client_folders
    WHERE client_id = ${clientId} ${named === undefined ? sql.fragment`` : sql.fragment`AND folder_id = ${named}`}
  `;
  return {
    caller: sql.fragment`
      SELECT ${clientStateColumns(request)},
        ${named === undefined ? sql.fragment`true` : sql.fragment`EXISTS (${granted})`} AS folder_granted
      FROM clients c WHERE c.id = ${clientId}
    `,
    schema: clientInScope,
    folders: granted,
    now,
    existing: sql.fragment`AND (expires_at IS NULL OR expires_at > ${now})`,
    // Must equal the value of the prepared statement `visible-digest`: of all folders, whichever is
    // named.
    digest: sql.fragment`(
      SELECT count(*) || '.' || coalesce(sum(hash_record_extended((g.folder_id, g.permission, f.history_seq), 0)), 0)
      FROM client_folders g JOIN folders f ON f.id = g.folder_id WHERE g.client_id = ${clientId}
    ) || '.' || (
      SELECT ${secretsDigest} FROM client_folders JOIN secrets USING (folder_id) WHERE client_id = ${clientId}
    ) || '.' || (
      SELECT count(*) FROM client_folders JOIN secrets USING (folder_id)
      WHERE client_id = ${clientId} AND expires_at <= ${now}
    )`,
    heads: sql.fragment`SELECT ${headsDigest} FROM folders f WHERE f.id IN (${granted})`,
  };
}

const scopedPerson = z.object({
  /** The session of the request has neither ended nor expired. */
  session_lasts: z.boolean(),
  /** Whether the person belongs to any organization. */
  belongs: z.boolean(),
  membership: z.object({ org_id: z.string(), role: z.enum(roles), status: z.enum(memberStatuses) }).nullable(),
  /** Null when the organization has no such folder. */
  folder: z.object({ permission: z.enum(permissions).nullable() }).nullable(),
});
/** A person with their state in one folder. */
export type ScopedPerson = z.infer<typeof scopedPerson>;

export interface PersonCall {
  userId: string;
  sessionId: string;
  orgId: string | undefined;
  now: Date;
}

/** The scope of a person: one folder. */
export function personScope(
  { userId, sessionId, orgId, now: time }: PersonCall,
  folderId: string,
): Scope<ScopedPerson> {
  const now = sql.fragment`${time.toISOString()}::timestamptz`;
  const heads = sql.fragment`SELECT ${headsDigest} FROM folders f WHERE f.id = ${folderId}`;
  const chosen = orgId === undefined ? sql.fragment`` : sql.fragment`AND org_id = ${orgId}`;
  return {
    caller: sql.fragment`
      SELECT
        EXISTS (
          SELECT FROM sessions
          WHERE id = ${sessionId} AND user_id = ${userId} AND revoked_at IS NULL
            AND expires_at > ${now}
        ) AS session_lasts,
        EXISTS (SELECT FROM memberships WHERE user_id = ${userId}) AS belongs,
        to_json(m) AS membership,
        CASE WHEN f.id IS NOT NULL THEN json_build_object('permission', g.permission) END AS folder
      FROM (VALUES (1)) AS one
      LEFT JOIN (
        SELECT org_id, role, status FROM memberships WHERE user_id = ${userId} ${chosen}
        ORDER BY joined_at, org_id LIMIT 1
      ) m ON true
      LEFT JOIN folders f ON f.id = ${folderId} AND f.org_id = m.org_id
      LEFT JOIN folder_members g ON g.folder_id = f.id AND g.user_id = ${userId}
    `,
    schema: scopedPerson,
    folders: sql.fragment`SELECT ${folderId}::uuid AS folder_id`,
    now,
    existing: sql.fragment``,
    digest: sql.fragment`(SELECT ${secretsDigest} FROM secrets WHERE folder_id = ${folderId}) || '.' || (
      SELECT count(*) FROM secrets WHERE folder_id = ${folderId} AND expires_at <= ${now}
    ) || '.' || (${heads})`,
    heads,
  };
}
