import { sql } from "@coffer/postgres";
import { z } from "zod";
import { permissions } from "../access/permission.ts";
import { clientState } from "./clients.ts";
import { roles } from "./memberships.ts";
import type { Asker } from "./secret-reads.ts";
import type { Scope } from "./secret-parts.ts";
import { headsDigest, secretsDigest } from "./secret-parts.ts";

const askingClient = clientState.extend({ folder_granted: z.boolean() });
/** A client, and whether it was granted the folder that it names; true when it names none. */
export type AskingClient = z.infer<typeof askingClient>;

/** A machine asks for the secrets of all folders that it was granted, or of one that it names. */
export function machineScope({ clientId, ip, now }: Asker, named: string | undefined): Scope<AskingClient> {
  const granted = sql.fragment`
    SELECT folder_id FROM client_folders
    WHERE client_id = ${clientId} ${named === undefined ? sql.fragment`` : sql.fragment`AND folder_id = ${named}`}
  `;
  return {
    caller: sql.fragment`
      SELECT org_id, application_id, revoked_at IS NOT NULL AS revoked,
        coalesce(expires_at <= ${now.toISOString()}::timestamptz, false) AS expired,
        (allowed_cidrs IS NULL OR ${ip}::inet <<= ANY (allowed_cidrs)) AS address_allowed,
        ${named === undefined ? sql.fragment`true` : sql.fragment`EXISTS (${granted})`} AS folder_granted
      FROM clients WHERE id = ${clientId}
    `,
    schema: askingClient,
    folders: granted,
    // The value that the prepared statement `visible-digest` has, of all folders whichever is named.
    digest: sql.fragment`(
      SELECT count(*) || '.' || coalesce(sum(hash_record_extended((g.folder_id, g.permission, f.history_seq), 0)), 0)
      FROM client_folders g JOIN folders f ON f.id = g.folder_id WHERE g.client_id = ${clientId}
    ) || '.' || (
      SELECT ${secretsDigest} FROM client_folders JOIN secrets USING (folder_id) WHERE client_id = ${clientId}
    )`,
    heads: sql.fragment`SELECT ${headsDigest} FROM folders f WHERE f.id IN (${granted})`,
  };
}

const askingPerson = z.object({
  /** The session that the request was made in has neither ended nor expired. */
  session_lasts: z.boolean(),
  /** To any organization. */
  belongs: z.boolean(),
  membership: z.object({ org_id: z.string(), role: z.enum(roles), status: z.enum(["active", "suspended"]) }).nullable(),
  /** Null when the organization has no such folder. */
  folder: z.object({ permission: z.enum(permissions).nullable() }).nullable(),
});
/** A person, and what a folder is to them. */
export type AskingPerson = z.infer<typeof askingPerson>;

/** Who asks, in which session and organization. */
export interface PersonAsking {
  userId: string;
  sessionId: string;
  orgId: string | undefined;
  now: Date;
}

/** A person asks for the secrets of a folder. */
export function personScope({ userId, sessionId, orgId, now }: PersonAsking, folderId: string): Scope<AskingPerson> {
  const heads = sql.fragment`SELECT ${headsDigest} FROM folders f WHERE f.id = ${folderId}`;
  const chosen = orgId === undefined ? sql.fragment`` : sql.fragment`AND org_id = ${orgId}`;
  return {
    caller: sql.fragment`
      SELECT
        EXISTS (
          SELECT FROM sessions
          WHERE id = ${sessionId} AND user_id = ${userId} AND revoked_at IS NULL
            AND expires_at > ${now.toISOString()}::timestamptz
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
    schema: askingPerson,
    folders: sql.fragment`SELECT ${folderId}::uuid AS folder_id`,
    digest: sql.fragment`(SELECT ${secretsDigest} FROM secrets WHERE folder_id = ${folderId}) || '.' || (${heads})`,
    heads,
  };
}
