import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** The place of the count that is over all places. */
export const everywhere = "";

const countRow = z.object({
  place: z.string(),
  started_at: z.array(z.string()),
  delays: z.number(),
  delayed_since: z.string().nullable(),
  delayed_until: z.string().nullable(),
  expires_at: z.string(),
});

/** The logins of an account that were begun at a place and have not succeeded. */
export interface LoginCount {
  place: string;
  /** The newest, at most ten, oldest first. */
  startedAt: readonly Date[];
  /** How often the next one has been put off since the first time. */
  delays: number;
  /** When it was for the first time. */
  delayedSince: Date | null;
  delayedUntil: Date | null;
  /** From then on it is as if there had been none. */
  expiresAt: Date;
}

/**
 * The counts of an account, locked, in the order of `places`, where those of one account always come in the same order.
 * What is missing is made, expired already: it takes the same time for everybody.
 */
export async function lockLoginCounts(
  tx: Queryable,
  { account, places, now }: { account: Buffer; places: readonly string[]; now: Date },
): Promise<LoginCount[]> {
  const rows = await tx.any(sql.type(countRow)`
    INSERT INTO login_counts (account, place, started_at, delays, expires_at)
    SELECT ${sql.binary(account)}, place, '{}', 0, ${now.toISOString()}
    FROM unnest(${sql.array([...places], "text")}) WITH ORDINALITY AS asked (place, position) ORDER BY position
    ON CONFLICT (account, place) DO UPDATE SET delays = login_counts.delays
    RETURNING place, started_at, delays, delayed_since, delayed_until, expires_at
  `);
  return rows.map(countOf);
}

/** The counts of an account as they are at this moment. */
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

/** Writes a locked count. */
export async function updateLoginCount(tx: Queryable, account: Buffer, count: LoginCount): Promise<void> {
  const startedAt = count.startedAt.map((moment) => moment.toISOString());
  await tx.query(sql.typeAlias("void")`
    UPDATE login_counts SET started_at = ${sql.array(startedAt, "timestamptz")}, delays = ${count.delays},
      delayed_since = ${count.delayedSince?.toISOString() ?? null},
      delayed_until = ${count.delayedUntil?.toISOString() ?? null}, expires_at = ${count.expiresAt.toISOString()}
    WHERE account = ${sql.binary(account)} AND place = ${count.place}
  `);
}

/** Forgets every count of an account, because a login has succeeded. */
export async function deleteLoginCounts(tx: Queryable, account: Buffer): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM login_counts WHERE account = ${sql.binary(account)}`);
}

/** Takes away up to `limit` counts that have expired; returns how many. */
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
