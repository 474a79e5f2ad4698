import { siemFormats } from "@coffer/contract";
import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

const row = z.object({
  id: z.string(),
  org_id: z.string(),
  name: z.string().nullable(),
  format: z.enum(siemFormats),
  url: z.string(),
  credentials: z.string(),
  enabled: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  last_status: z.number().nullable(),
  last_at: z.string().nullable(),
  last_error: z.string().nullable(),
});
/** An endpoint with its configuration, its sealed credentials, and its last delivery. */
export type EndpointRow = z.infer<typeof row>;

const columns = sql.fragment`
  id, org_id, name, format, url, credentials, enabled, created_at, updated_at, last_status, last_at, last_error
`;

/** The endpoints of an organization, the oldest first. */
export function listEndpointRows(db: Queryable, orgId: string): Promise<readonly EndpointRow[]> {
  return db.any(sql.type(row)`
    SELECT ${columns} FROM siem_endpoints WHERE org_id = ${orgId} ORDER BY created_at, id
  `);
}

/** One endpoint of an organization; null when the organization has none with this id. */
export function findEndpointRow(db: Queryable, orgId: string, id: string): Promise<EndpointRow | null> {
  return db.maybeOne(sql.type(row)`SELECT ${columns} FROM siem_endpoints WHERE org_id = ${orgId} AND id = ${id}`);
}

/** The endpoint, locked until the transaction ends; null when the organization has none with this id. */
export function lockEndpointRow(tx: Transaction, orgId: string, id: string): Promise<EndpointRow | null> {
  return tx.maybeOne(sql.type(row)`
    SELECT ${columns} FROM siem_endpoints WHERE org_id = ${orgId} AND id = ${id} FOR UPDATE
  `);
}

/** How many endpoints an organization has. */
export async function countEndpoints(db: Queryable, orgId: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM siem_endpoints WHERE org_id = ${orgId}
  `);
}

/** The configuration of an endpoint. */
export type EndpointSettings = Pick<EndpointRow, "name" | "format" | "url" | "credentials" | "enabled">;

/** Inserts an endpoint whose delivery begins after the record at `position`. */
export function insertEndpoint(
  tx: Transaction,
  given: EndpointSettings & { id: string; orgId: string; time: string; position: number },
): Promise<EndpointRow> {
  const { id, orgId, name, format, url, credentials, enabled, time, position } = given;
  return tx.one(sql.type(row)`
    INSERT INTO siem_endpoints (id, org_id, name, format, url, credentials, enabled, created_at, updated_at, position)
    VALUES (${id}, ${orgId}, ${name}, ${format}, ${url}, ${credentials}, ${enabled}, ${time}, ${time}, ${position})
    RETURNING ${columns}
  `);
}

/** Changes a locked endpoint and resets its failures: the next delivery is due at once. */
export function updateEndpoint(
  tx: Transaction,
  id: string,
  { name, url, credentials, enabled, time }: Omit<EndpointSettings, "format"> & { time: string },
): Promise<EndpointRow> {
  return tx.one(sql.type(row)`
    UPDATE siem_endpoints SET
      name = ${name}, url = ${url}, credentials = ${credentials}, enabled = ${enabled},
      updated_at = greatest(${time}::timestamptz, updated_at + interval '1 microsecond'),
      failing_since = NULL, attempts = 0, next_attempt_at = NULL
    WHERE id = ${id} RETURNING ${columns}
  `);
}

/** Deletes an endpoint. Returns whether the organization had it. */
export async function deleteEndpoint(tx: Transaction, orgId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM siem_endpoints WHERE org_id = ${orgId} AND id = ${id}
  `);
  return rowCount > 0;
}

const sealedRow = z.object({ id: z.string(), credentials: z.string() });

/** Some endpoints whose credentials another key than the present one has sealed, after `afterId` by id. */
export function listSealedOtherwise(
  db: Queryable,
  { currentPrefix, afterId, limit }: { currentPrefix: string; afterId: string; limit: number },
): Promise<readonly z.infer<typeof sealedRow>[]> {
  return db.any(sql.type(sealedRow)`
    SELECT id, credentials FROM siem_endpoints
    WHERE id > ${afterId} AND NOT starts_with(credentials, ${currentPrefix})
    ORDER BY id LIMIT ${limit}
  `);
}

/** Replaces sealed credentials that are still those that were read. */
export async function replaceSealed(
  db: Queryable,
  { id, from, to }: { id: string; from: string; to: string },
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET credentials = ${to} WHERE id = ${id} AND credentials = ${from}
  `);
}
