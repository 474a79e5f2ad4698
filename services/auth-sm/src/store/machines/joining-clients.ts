import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { clientState, clientStateColumns, requestValues } from "./clients.ts";

/** Locks a client against revocation (shared). Take this lock before the one on a folder. */
export async function holdClient(tx: Queryable, clientId: string): Promise<void> {
  await tx.any(sql.type(z.object({ id: z.string() }))`SELECT id FROM clients WHERE id = ${clientId} FOR KEY SHARE`);
}

const joiningClient = clientState.extend({
  public_key: z.string(),
  token_hash: z.string().nullable(),
  permission: z.enum(["read", "write"]).nullable(),
  key_version: z.number().nullable(),
});

/**
 * A client with its public key, the hex SHA-256 of its one-time token, and its grant on a folder
 * (nulls without one). Null when there is no such client.
 */
export function findJoiningClient(
  db: Queryable,
  { clientId, folderId, ip, now }: { clientId: string; folderId: string; ip: string; now: Date },
): Promise<z.infer<typeof joiningClient> | null> {
  return db.maybeOne(sql.type(joiningClient)`
    SELECT ${clientStateColumns(requestValues({ now, ip }))}, c.public_key,
      encode(c.token_hash, 'hex') AS token_hash, g.permission, f.key_version
    FROM clients c
    LEFT JOIN (client_folders g JOIN folders f ON f.id = g.folder_id)
      ON g.client_id = c.id AND g.folder_id = ${folderId}
    WHERE c.id = ${clientId}
  `);
}
