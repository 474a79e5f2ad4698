import type { LostMembership, Membership } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { permissions } from "../access/permission.ts";

const kept = z.object({ org_id: z.string(), user_id: z.string(), status: z.enum(["active", "suspended", "removed"]) });
export type KeptMembership = z.infer<typeof kept>;

/** A membership that is newer than what is known; `returned`: who joined after that, and so had left since. */
export type NewerMembership = Membership & { returned: boolean };

/** Of these memberships those that are newer than what is known. Of what was forgotten none has returned. */
export async function newerOf(db: Queryable, memberships: readonly Membership[]): Promise<readonly NewerMembership[]> {
  const place = z.object({ n: z.number(), returned: z.boolean() });
  const newer = await db.any(sql.type(place)`
    SELECT n::integer AS n, (known.version > 0 AND known.joined_at < told.joined_at) IS TRUE AS returned
    FROM jsonb_to_recordset(${JSON.stringify(memberships.map((each, n) => ({ ...each, n })))}::jsonb)
      AS told (n bigint, org_id uuid, user_id uuid, joined_at timestamptz, version bigint)
    LEFT JOIN memberships known USING (org_id, user_id)
    WHERE known.version IS NULL OR known.version < told.version
  `);
  const found = new Map(newer.map(({ n, returned }) => [n, returned]));
  return memberships.flatMap((each, n) => {
    const returned = found.get(n);
    return returned === undefined ? [] : [{ ...each, returned }];
  });
}

/** Keeps those that are newer than what is known; returns them. The caller holds the people. */
export function keepMemberships(tx: Queryable, memberships: readonly Membership[]): Promise<readonly KeptMembership[]> {
  return tx.any(sql.type(kept)`
    INSERT INTO memberships AS known (org_id, user_id, role, status, name, email, joined_at, version)
    SELECT org_id, user_id, role, status, name, email, joined_at, version
    FROM jsonb_to_recordset(${JSON.stringify(memberships)}::jsonb)
      AS told (org_id uuid, user_id uuid, role text, status text, name text, email text, joined_at timestamptz,
        version bigint)
    ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role, status = excluded.status, name = excluded.name,
      email = excluded.email, joined_at = excluded.joined_at, version = excluded.version
    WHERE known.version < excluded.version
    RETURNING org_id, user_id, status
  `);
}

/** The vaults of these organizations of which these people are members, pair by pair. */
export function vaultsOfMembers(db: Queryable, pairs: readonly KeptMembership[]): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT DISTINCT v.id FROM (${asRows(pairs)}) pair
    JOIN vault_members m USING (user_id) JOIN vaults v ON v.id = m.vault_id AND v.org_id = pair.org_id
  `);
}

const left = z.object({
  org_id: z.string(),
  user_id: z.string(),
  vault_id: z.string(),
  permission: z.enum(permissions),
});
/** Somebody who was a member of a vault. */
export type FormerVaultMember = z.infer<typeof left>;

/** Takes people out of all vaults of organizations that they were removed from; returns who left which vault. */
export function leaveVaults(tx: Queryable, pairs: readonly KeptMembership[]): Promise<readonly FormerVaultMember[]> {
  return tx.any(sql.type(left)`
    DELETE FROM vault_members m USING (${asRows(pairs)}) pair, vaults v
    WHERE m.user_id = pair.user_id AND v.id = m.vault_id AND v.org_id = pair.org_id
    RETURNING pair.org_id, m.user_id, m.vault_id, m.permission
  `);
}

function asRows(pairs: readonly KeptMembership[]) {
  return sql.fragment`
    SELECT * FROM unnest(
      ${sql.array(
        pairs.map(({ org_id }) => org_id),
        "uuid",
      )},
      ${sql.array(
        pairs.map(({ user_id }) => user_id),
        "uuid",
      )}
    ) AS pair (org_id, user_id)
  `;
}

/** Below every version, also that of what was only asked for (0). */
const forgotten = -1;

/** The greatest version that is known; 0 when there is none. */
export function greatestVersion(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(z.object({ version: z.number() }))`
    SELECT greatest(max(version), 0) AS version FROM memberships
  `);
}

/** Lets whatever auth-sm tells next count as newer than what is known. */
export async function forgetVersions(db: Queryable): Promise<void> {
  await db.query(sql.typeAlias("void")`UPDATE memberships SET version = ${forgotten} WHERE version > 0`);
}

/**
 * Lets those of `told`, as they are in auth-sm, count as newer than what is known of them and is otherwise, up to a version
 * that auth-sm has come past: its database was restored and knows less, or something else by the same version, or the
 * person was suspended here without its word.
 */
export async function forgetContradicted(db: Queryable, told: readonly Membership[], upTo: number): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE memberships known SET version = ${forgotten}
    FROM jsonb_to_recordset(${JSON.stringify(told)}::jsonb)
      AS told (org_id uuid, user_id uuid, role text, status text, name text, email text, version bigint)
    WHERE known.org_id = told.org_id AND known.user_id = told.user_id
      AND known.version BETWEEN told.version AND ${upTo}
      AND (known.role, known.status, known.name, known.email) <> (told.role, told.status, told.name, told.email)
  `);
}

const seen = z.object({ org_id: z.string(), user_id: z.string(), version: z.number() });
/** A membership as it is known here, by the version that was found. */
export type SeenMembership = z.infer<typeof seen>;

/**
 * A page of the memberships that are known to be active and have a version up to this one, in order of organization and
 * person. What was only asked for has no version yet and is not among them: nobody knows whether it is older.
 */
export async function listOlder(
  db: Queryable,
  version: number,
  after: { org_id: string; user_id: string } | undefined,
): Promise<readonly SeenMembership[]> {
  const later =
    after === undefined
      ? sql.fragment``
      : sql.fragment`AND (org_id, user_id) > (${after.org_id}::uuid, ${after.user_id}::uuid)`;
  return db.any(sql.type(seen)`
    SELECT org_id, user_id, version FROM memberships
    WHERE status = 'active' AND version <> 0 AND version <= ${version} ${later} ORDER BY org_id, user_id LIMIT 1000
  `);
}

/** Whether any membership is known to last that auth-sm has told of by itself. */
export function someLast(db: Queryable): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM memberships WHERE status <> 'removed' AND version <> 0`);
}

/** Versions come from one sequence: so many changes are not made before they are told. */
const mostAhead = 1_000_000;

/** Of these members those who may open vaults by what is known, which is older than what is said of them here. */
export function findOlder(db: Queryable, said: readonly LostMembership[]): Promise<readonly SeenMembership[]> {
  return db.any(sql.type(seen)`
    SELECT DISTINCT org_id, user_id, known.version FROM memberships known
    JOIN jsonb_to_recordset(${JSON.stringify(said)}::jsonb) AS said (org_id uuid, user_id uuid, version bigint)
      USING (org_id, user_id)
    WHERE known.status = 'active' AND known.role <> 'auditor' AND known.version < said.version
      AND (said.version <= (SELECT max(version) FROM memberships WHERE version > 0) + ${mostAhead}) IS NOT FALSE
  `);
}

/**
 * Suspends those who are as they were seen, and returns them. Their versions stay, unless they are to be forgotten: what
 * auth-sm says of them counts in either direction, also when it is the same as before (`forgetContradicted`). The caller
 * holds the people.
 */
export function suspendSeen(
  tx: Queryable,
  members: readonly SeenMembership[],
  { forget }: { forget: boolean },
): Promise<readonly KeptMembership[]> {
  const version = forget ? sql.fragment`${forgotten}` : sql.fragment`known.version`;
  return tx.any(sql.type(kept)`
    UPDATE memberships known SET status = 'suspended', version = ${version}
    FROM jsonb_to_recordset(${JSON.stringify(members)}::jsonb) AS seen (org_id uuid, user_id uuid, version bigint)
    WHERE known.org_id = seen.org_id AND known.user_id = seen.user_id
      AND known.version = seen.version AND known.status = 'active'
    RETURNING known.org_id, known.user_id, known.status
  `);
}
