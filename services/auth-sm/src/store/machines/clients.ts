import { type Fragment, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

export const clientState = z.object({
  org_id: z.string(),
  application_id: z.string().nullable(),
  revoked: z.boolean(),
  expired: z.boolean(),
  address_allowed: z.boolean(),
});
/** The columns that decide whether a client may act now, from this address. */
export type ClientState = z.infer<typeof clientState>;

/** A condition: these CIDR ranges of a client or token, or null for all addresses, contain an address. */
export const allowsAddress = (ranges: Fragment, ip: Fragment): Fragment =>
  sql.fragment`(${ranges} IS NULL OR ${ip} <<= ANY (${ranges}))`;

/** The columns of `ClientState` of the client `c`, for a request at a moment from an address. */
export const clientStateColumns = ({ now, ip }: { now: Fragment; ip: Fragment }): Fragment => sql.fragment`
  c.org_id, c.application_id, c.revoked_at IS NOT NULL AS revoked,
  coalesce(c.expires_at <= ${now}, false) AS expired,
  ${allowsAddress(sql.fragment`c.allowed_cidrs`, ip)} AS address_allowed`;

/** The values of `clientStateColumns` in a statement of slonik. */
export const requestValues = ({ now, ip }: { now: Date; ip: string }): { now: Fragment; ip: Fragment } => ({
  now: sql.fragment`${now.toISOString()}::timestamptz`,
  ip: sql.fragment`${ip}::inet`,
});

/** The client's state at `now`; null when there is no such client. */
export function findClientState(
  db: Queryable,
  { clientId, ip, now }: { clientId: string; ip: string; now: Date },
): Promise<ClientState | null> {
  return db.maybeOne(sql.type(clientState)`
    SELECT ${clientStateColumns(requestValues({ now, ip }))} FROM clients c WHERE c.id = ${clientId}
  `);
}

const clientOrg = z.object({ org_id: z.string(), application_id: z.string().nullable() });

/**
 * The organization of a client, and its application unless that was deleted; null when there is no
 * such client.
 */
export function findClientOrg(db: Queryable, clientId: string): Promise<z.infer<typeof clientOrg> | null> {
  return db.maybeOne(sql.type(clientOrg)`SELECT org_id, application_id FROM clients WHERE id = ${clientId}`);
}

/** Returns false when the id is taken. */
export async function insertClient(
  tx: Queryable,
  client: {
    id: string;
    orgId: string;
    applicationId: string;
    name: string;
    publicKey: string;
    /** SHA-256 of the one-time token that made the client. */
    tokenHash: Buffer;
    allowedCidrs: readonly string[] | null;
    expiresAt: string | null;
    now: Date;
  },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    INSERT INTO clients (id, org_id, application_id, name, public_key, token_hash, allowed_cidrs, expires_at, created_at)
    VALUES (${client.id}, ${client.orgId}, ${client.applicationId}, ${client.name}, ${client.publicKey},
      ${sql.binary(client.tokenHash)},
      ${client.allowedCidrs === null ? null : sql.array([...client.allowedCidrs], "cidr")},
      ${client.expiresAt}, ${client.now.toISOString()})
    ON CONFLICT (id) DO NOTHING
  `);
  return rowCount === 1;
}

/**
 * Stores when and from where clients were last used, unless a newer time is stored. Locks the rows
 * in the order of their ids, so that two replicas never deadlock.
 */
export async function touchClients(
  db: Queryable,
  uses: readonly { clientId: string; ip: string; at: string }[],
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    WITH seen (id, ip, at) AS (
      SELECT * FROM ${sql.unnest(
        uses.map(({ clientId, ip, at }) => [clientId, ip, at]),
        ["uuid", "inet", "timestamptz"],
      )}
    ), held AS (
      SELECT id FROM clients WHERE id IN (SELECT id FROM seen) ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE clients SET last_used_at = seen.at, last_ip = seen.ip FROM held JOIN seen USING (id)
    WHERE clients.id = held.id AND clients.revoked_at IS NULL
      AND (clients.last_used_at IS NULL OR clients.last_used_at < seen.at)
  `);
}
