import { memberStatuses, permissions } from "@coffer/contract";
import type { LostMembership, Membership } from "@coffer/events";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const stored = z.object({
  org_id: z.string(),
  user_id: z.string(),
  status: z.enum([...memberStatuses, "removed"]),
});
export type StoredMembership = z.infer<typeof stored>;

/** A membership that is newer than the copy; `returned`: removed and joined again since. */
export type NewerMembership = Membership & { returned: boolean };

/** The memberships that are newer than the copy. None with a discarded version has `returned`. */
export async function newerOf(db: Queryable, memberships: readonly Membership[]): Promise<readonly NewerMembership[]> {
  const found = z.object({ n: z.number(), returned: z.boolean() });
  const newer = await db.any(sql.type(found)`
    SELECT n::integer AS n, (known.version > 0 AND known.joined_at < received.joined_at) IS TRUE AS returned
    FROM jsonb_to_recordset(${JSON.stringify(memberships.map((each, n) => ({ ...each, n })))}::jsonb)
      AS received (n bigint, org_id uuid, user_id uuid, joined_at timestamptz, version bigint)
    LEFT JOIN memberships known USING (org_id, user_id)
    WHERE known.version IS NULL OR known.version < received.version
  `);
  const returnedByIndex = new Map(newer.map(({ n, returned }) => [n, returned]));
  return memberships.flatMap((each, n) => {
    const returned = returnedByIndex.get(n);
    return returned === undefined ? [] : [{ ...each, returned }];
  });
}

/**
 * Stores and returns the memberships that are newer than the copy. The caller has locked the
 * people.
 */
export function storeMemberships(
  tx: Queryable,
  memberships: readonly Membership[],
): Promise<readonly StoredMembership[]> {
  return tx.any(sql.type(stored)`
    INSERT INTO memberships AS known (org_id, user_id, role, status, name, email, joined_at, version)
    SELECT org_id, user_id, role, status, name, email, joined_at, version
    FROM jsonb_to_recordset(${JSON.stringify(memberships)}::jsonb)
      AS received (org_id uuid, user_id uuid, role text, status text, name text, email text, joined_at timestamptz,
        version bigint)
    ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role, status = excluded.status, name = excluded.name,
      email = excluded.email, joined_at = excluded.joined_at, version = excluded.version
    WHERE known.version < excluded.version
    RETURNING org_id, user_id, status
  `);
}

/** The vaults that have these people as members, pair by pair of organization and person. */
export function vaultsOfMembers(db: Queryable, pairs: readonly StoredMembership[]): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT DISTINCT v.id FROM (${pairRows(pairs)}) pair
    JOIN vault_members m USING (user_id) JOIN vaults v ON v.id = m.vault_id AND v.org_id = pair.org_id
  `);
}

const left = z.object({
  org_id: z.string(),
  user_id: z.string(),
  vault_id: z.string(),
  permission: z.enum(permissions),
});
export type FormerVaultMember = z.infer<typeof left>;

/** Removes people from all vaults of their former organizations. Returns the removed members. */
export function leaveVaults(tx: Queryable, pairs: readonly StoredMembership[]): Promise<readonly FormerVaultMember[]> {
  return tx.any(sql.type(left)`
    DELETE FROM vault_members m USING (${pairRows(pairs)}) pair, vaults v
    WHERE m.user_id = pair.user_id AND v.id = m.vault_id AND v.org_id = pair.org_id
    RETURNING pair.org_id, m.user_id, m.vault_id, m.permission
  `);
}

function pairRows(pairs: readonly StoredMembership[]) {
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

/** Below every version, including 0, that of memberships without a version. */
const discarded = -1;

/** The greatest version of the copy; 0 for an empty one. */
export function greatestVersion(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(z.object({ version: z.number() }))`
    SELECT greatest(max(version), 0) AS version FROM memberships
  `);
}

/** Discards all versions: the next ones from auth-sm are newer. */
export async function forgetVersions(db: Queryable): Promise<void> {
  await db.query(sql.typeAlias("void")`UPDATE memberships SET version = ${discarded} WHERE version > 0`);
}

/**
 * Discards the versions, up to `upTo`, of memberships that differ from auth-sm's, so that those are
 * newer. They differ if its database was restored, or if vaults suspended a member on its own.
 */
export async function forgetContradicted(db: Queryable, received: readonly Membership[], upTo: number): Promise<void> {
  await db.query(sql.typeAlias("void")`
    UPDATE memberships known SET version = ${discarded}
    FROM jsonb_to_recordset(${JSON.stringify(received)}::jsonb)
      AS received (org_id uuid, user_id uuid, role text, status text, name text, email text, version bigint)
    WHERE known.org_id = received.org_id AND known.user_id = received.user_id
      AND known.version BETWEEN received.version AND ${upTo}
      AND (known.role, known.status, known.name, known.email) <> (received.role, received.status, received.name, received.email)
  `);
}

const versioned = z.object({ org_id: z.string(), user_id: z.string(), version: z.number() });
/** A membership of the copy, with the version that was read. */
export type VersionedMembership = z.infer<typeof versioned>;

/**
 * A page of the active memberships with a version up to `version`, in order of organization and
 * person. Excludes memberships without a version, whose age is unknown.
 */
export async function listOlder(
  db: Queryable,
  version: number,
  after: { org_id: string; user_id: string } | undefined,
): Promise<readonly VersionedMembership[]> {
  const later =
    after === undefined
      ? sql.fragment``
      : sql.fragment`AND (org_id, user_id) > (${after.org_id}::uuid, ${after.user_id}::uuid)`;
  return db.any(sql.type(versioned)`
    SELECT org_id, user_id, version FROM memberships
    WHERE status = 'active' AND version <> 0 AND version <= ${version} ${later} ORDER BY org_id, user_id LIMIT 1000
  `);
}

/** Whether the copy has a membership that auth-sm sent and did not remove. */
export function hasVersionedMembership(db: Queryable): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM memberships WHERE status <> 'removed' AND version <> 0`);
}

/** More versions ahead than this are implausible: they come from one sequence. */
const mostAhead = 1_000_000;

/** The members who may open vaults by the copy, if the copy is older than the entry in Redis. */
export function findOlder(db: Queryable, reported: readonly LostMembership[]): Promise<readonly VersionedMembership[]> {
  return db.any(sql.type(versioned)`
    SELECT DISTINCT org_id, user_id, known.version FROM memberships known
    JOIN jsonb_to_recordset(${JSON.stringify(reported)}::jsonb) AS reported (org_id uuid, user_id uuid, version bigint)
      USING (org_id, user_id)
    WHERE known.status = 'active' AND known.role <> 'auditor' AND known.version < reported.version
      AND (reported.version <= (SELECT max(version) FROM memberships WHERE version > 0) + ${mostAhead}) IS NOT FALSE
  `);
}

/**
 * Suspends and returns the members whose versions have not changed. Their versions stay unless
 * `forget`; `forgetContradicted` later restores a member that auth-sm still has. The caller has
 * locked the people.
 */
export function suspendUnchanged(
  tx: Queryable,
  members: readonly VersionedMembership[],
  { forget }: { forget: boolean },
): Promise<readonly StoredMembership[]> {
  const version = forget ? sql.fragment`${discarded}` : sql.fragment`known.version`;
  return tx.any(sql.type(stored)`
    UPDATE memberships known SET status = 'suspended', version = ${version}
    FROM jsonb_to_recordset(${JSON.stringify(members)}::jsonb) AS expected (org_id uuid, user_id uuid, version bigint)
    WHERE known.org_id = expected.org_id AND known.user_id = expected.user_id
      AND known.version = expected.version AND known.status = 'active'
    RETURNING known.org_id, known.user_id, known.status
  `);
}
