import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The key of the count over all addresses. */
export const everywhere = "";

const countRow = z.object({
  place: z.string(),
  started_at: z.array(z.string()),
  delays: z.number(),
  delayed_since: z.string().nullable(),
  delayed_until: z.string().nullable(),
  expires_at: z.string(),
});

/** The unfinished logins of an account from an address. */
export interface LoginCount {
  place: string;
  /** The newest, at most ten, oldest first. */
  startedAt: readonly Date[];
  /** How often the next login has been delayed since `delayedSince`. */
  delays: number;
  /** When the first delay began. */
  delayedSince: Date | null;
  delayedUntil: Date | null;
  /** From then on the count is ignored. */
  expiresAt: Date;
}

/**
 * Locks the counts of an account in the order of `places`, which must be the same for every call.
 * Creates missing counts as expired, so that the statement takes the same time for every account.
 */
export async function lockLoginCounts(
  tx: Queryable,
  { account, places, now }: { account: Buffer; places: readonly string[]; now: Date },
): Promise<LoginCount[]> {
  const rows = await tx.any(sql.type(countRow)`
    INSERT INTO login_counts (account, place, started_at, delays, expires_at)
    SELECT ${sql.binary(account)}, place, '{}', 0, ${now.toISOString()}
    FROM unnest(${sql.array([...places], "text")}) WITH ORDINALITY AS requested (place, position) ORDER BY position
    ON CONFLICT (account, place) DO UPDATE SET delays = login_counts.delays
    RETURNING place, started_at, delays, delayed_since, delayed_until, expires_at
  `);
  return rows.map(countOf);
}

/** The current counts of an account, read without a lock. */
export async function listLoginCounts(
  db: Queryable,
  { account, places }: { account: Buffer; places: readonly string[] },
): Promise<LoginCount[]> {
  const rows = await db.any(sql.type(countRow)`
    SELECT place, started_at, delays, delayed_since, delayed_until, expires_at FROM login_counts
    WHERE account = ${sql.binary(account)} AND place = ANY(${sql.array([...places], "text")})
  `);
  return rows.map(countOf);
}

function countOf(row: z.infer<typeof countRow>): LoginCount {
  const moment = (text: string | null): Date | null => (text === null ? null : new Date(text));
  return {
    place: row.place,
    startedAt: row.started_at.map((text) => new Date(text)),
    delays: row.delays,
    delayedSince: moment(row.delayed_since),
    delayedUntil: moment(row.delayed_until),
    expiresAt: new Date(row.expires_at),
  };
}

export async function updateLoginCount(tx: Queryable, account: Buffer, count: LoginCount): Promise<void> {
  const startedAt = count.startedAt.map((moment) => moment.toISOString());
  await tx.query(sql.typeAlias("void")`
    UPDATE login_counts SET started_at = ${sql.array(startedAt, "timestamptz")}, delays = ${count.delays},
      delayed_since = ${count.delayedSince?.toISOString() ?? null},
      delayed_until = ${count.delayedUntil?.toISOString() ?? null}, expires_at = ${count.expiresAt.toISOString()}
    WHERE account = ${sql.binary(account)} AND place = ${count.place}
  `);
}

/** Deletes every count of an account after a successful login. */
export async function deleteLoginCounts(tx: Queryable, account: Buffer): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM login_counts WHERE account = ${sql.binary(account)}`);
}

/** Deletes up to `limit` expired counts; returns how many. */
export async function deleteLoginCountsPast(
  db: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(sql.typeAlias("void")`
    DELETE FROM login_counts WHERE (account, place) IN (
      SELECT account, place FROM login_counts WHERE expires_at <= ${now.toISOString()}::timestamptz
      ORDER BY expires_at FOR UPDATE SKIP LOCKED LIMIT ${limit}
    )
  `);
  return rowCount;
}
