import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** A replica at a moment, and the moments that leases go by: all ISO 8601. */
export interface LeaseTimes {
  replicaId: string;
  now: string;
  /** The end of leases that are taken or renewed now. */
  until: string;
  /** Leases that end before this are renewed. */
  renewBefore: string;
  /** Replicas that were seen later live. */
  liveSince: string;
}

/** Gives a sign of life. Returns how many replicas live, this one included. */
export async function noteReplica(db: Queryable, { replicaId, now, liveSince }: LeaseTimes): Promise<number> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO siem_replicas (id, seen_at) VALUES (${replicaId}, ${now}::timestamptz)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
  `);
  await db.query(sql.typeAlias("void")`DELETE FROM siem_replicas WHERE seen_at < ${liveSince}::timestamptz`);
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`SELECT count(*) AS count FROM siem_replicas`);
}

/** Removes a replica that ends: the others take over its leases at once. */
export async function forgetReplica(db: Queryable, replicaId: string): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET lease_holder = NULL, lease_until = NULL WHERE lease_holder = ${replicaId}
  `);
  await db.query(sql.typeAlias("void")`DELETE FROM siem_replicas WHERE id = ${replicaId}`);
}

/** Renews the leases of this replica that end soon. */
export async function renewLeases(db: Queryable, { replicaId, now, until, renewBefore }: LeaseTimes): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET lease_until = ${until}::timestamptz
    WHERE lease_holder = ${replicaId} AND enabled
      AND lease_until > ${now}::timestamptz AND lease_until < ${renewBefore}::timestamptz
  `);
}

/** Takes free leases, so that this replica holds its share of the enabled endpoints, rounded up. */
export async function takeLeases(
  db: Queryable,
  { replicaId, now, until }: LeaseTimes,
  replicas: number,
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET lease_holder = ${replicaId}, lease_until = ${until}::timestamptz
    WHERE id IN (
      SELECT id FROM siem_endpoints
      WHERE enabled AND (lease_until IS NULL OR lease_until <= ${now}::timestamptz)
      ORDER BY id
      LIMIT greatest(0, (
        SELECT ceil(count(*)::numeric / ${replicas})
          - count(*) FILTER (WHERE lease_holder = ${replicaId} AND lease_until > ${now}::timestamptz)
        FROM siem_endpoints WHERE enabled
      ))
      FOR UPDATE SKIP LOCKED
    )
  `);
}

/** Releases leases above this replica's share, of endpoints that are not in `busy`. */
export async function releaseLeases(
  db: Queryable,
  { replicaId, now }: LeaseTimes,
  { replicas, busy }: { replicas: number; busy: readonly string[] },
): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET lease_holder = NULL, lease_until = NULL
    WHERE lease_holder = ${replicaId} AND id IN (
      SELECT id FROM siem_endpoints
      WHERE lease_holder = ${replicaId} AND NOT id = ANY (${sql.array(busy, "uuid")})
      ORDER BY id DESC
      LIMIT greatest(0, (
        SELECT count(*) FILTER (WHERE lease_holder = ${replicaId} AND lease_until > ${now}::timestamptz)
          - ceil(count(*)::numeric / ${replicas})
        FROM siem_endpoints WHERE enabled
      ))
    )
  `);
}

/** Forgets the failures of paused endpoints: the time without a plan is no time of failures. */
export async function forgetFailures(db: Queryable, replicaId: string, orgIds: readonly string[]): Promise<void> {
  if (orgIds.length === 0) return;
  await db.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET failing_since = NULL, attempts = 0, next_attempt_at = NULL
    WHERE lease_holder = ${replicaId} AND failing_since IS NOT NULL AND org_id = ANY (${sql.array(orgIds, "uuid")})
  `);
}

const owned = z.object({
  id: z.string(),
  org_id: z.string(),
  format: z.string(),
  backlog: z.number(),
  is_due: z.boolean(),
  has_parked: z.boolean(),
});
export type OwnedEndpoint = z.infer<typeof owned>;

/** The endpoints of this replica: how many records wait, and whether the next attempt is due. */
export function listOwned(
  db: Queryable,
  { replicaId, now, notSince }: { replicaId: string; now: string; notSince: string },
): Promise<readonly OwnedEndpoint[]> {
  return db.any(sql.type(owned)`
    SELECT e.id, e.org_id, e.format, greatest(0, coalesce(c.seq, 0) - e.position) AS backlog,
      e.next_attempt_at IS NULL OR e.next_attempt_at <= ${now}::timestamptz AS is_due,
      e.parked > 0 AND (e.parked_reported_at IS NULL OR e.parked_reported_at <= ${notSince}::timestamptz) AS has_parked
    FROM siem_endpoints e LEFT JOIN audit_chains c ON c.id = e.org_id
    WHERE e.lease_holder = ${replicaId} AND e.lease_until > ${now}::timestamptz AND e.enabled
    ORDER BY e.id
  `);
}
