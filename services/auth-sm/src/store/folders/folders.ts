import { permissions } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../../fold-case.ts";
import { canHold } from "./folder-grants.ts";
import { lockWholeFolder } from "./folder-lock.ts";
import { isAfterName, mostNamed, type NameKey, type Wanted } from "../list-parts.ts";

const folderRow = z.object({
  id: z.string(),
  name: z.string(),
  permission: z.enum(permissions).nullable(),
  key_version: z.number(),
  encrypted_key: z.string().nullable(),
  encrypted_key_alg: z.enum(["box-user", "jwe"]).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  history_seq: z.number().nullable(),
});
/** A folder as one person sees it. `permission` and the encrypted key are null without a grant. */
export type FolderRow = z.infer<typeof folderRow>;

const folderColumns = sql.fragment`f.id, f.name, m.permission, f.key_version, m.encrypted_key, m.encrypted_key_alg,
  f.created_at, f.updated_at, f.history_seq`;

/** Inserts an empty folder. Throws on a taken id (`folders_pkey`) or name (`folders_name_key`). */
export async function insertFolder(
  tx: Queryable,
  folder: { id: string; orgId: string; name: string; now: Date },
): Promise<void> {
  const now = folder.now.toISOString();
  await tx.query(sql.typeAlias("void")`
    INSERT INTO folders (id, org_id, name, name_folded, created_at, updated_at)
    VALUES (${folder.id}, ${folder.orgId}, ${folder.name}, ${foldCase(folder.name)}, ${now}, ${now})
  `);
}

/** A folder's key in the form in which a person has it. */
export interface SealedKey {
  encryptedKey: string;
  alg: "box-user" | "jwe";
}

export async function insertFolderMember(
  tx: Queryable,
  grant: { folderId: string; userId: string; permission: (typeof permissions)[number]; key: SealedKey; now: Date },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO folder_members (folder_id, user_id, permission, encrypted_key, encrypted_key_alg, added_at)
    VALUES (${grant.folderId}, ${grant.userId}, ${grant.permission}, ${grant.key.encryptedKey}, ${grant.key.alg},
      ${grant.now.toISOString()})
  `);
}

/** An existing folder as this person sees it. */
export function getFolder(db: Queryable, folderId: string, userId: string): Promise<FolderRow> {
  return db.one(sql.type(folderRow)`
    SELECT ${folderColumns}
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.id = ${folderId}
  `);
}

/** A folder of the organization as this person sees it; null when there is none with this id. */
export function findFolder(
  db: Queryable,
  { orgId, userId, folderId }: { orgId: string; userId: string; folderId: string },
): Promise<FolderRow | null> {
  return db.maybeOne(sql.type(folderRow)`
    SELECT ${folderColumns}
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.id = ${folderId} AND f.org_id = ${orgId}
  `);
}

const listedFolderRow = folderRow.extend({ name_folded: z.string() });
export type ListedFolderRow = z.infer<typeof listedFolderRow>;

/**
 * A part of the folders of an organization by name, as this person sees them: of all, or of those
 * with a grant.
 */
export async function listFolders(
  db: Queryable,
  {
    orgId,
    userId,
    onlyGranted,
    after,
    limit = mostNamed,
  }: { orgId: string; userId: string; onlyGranted: boolean } & Wanted<NameKey>,
): Promise<{ rows: readonly ListedFolderRow[]; more: boolean }> {
  const most = Math.min(limit, mostNamed);
  const listed = sql.fragment`
    FROM folders f LEFT JOIN folder_members m ON m.folder_id = f.id AND m.user_id = ${userId}
    WHERE f.org_id = ${orgId} AND (m.user_id IS NOT NULL OR NOT ${onlyGranted})`;
  const found = await db.any(sql.type(listedFolderRow)`
    SELECT ${folderColumns}, f.name_folded ${listed} AND ${isAfterName(after, listed)}
    ORDER BY f.name_folded LIMIT ${most + 1}
  `);
  return { rows: found.slice(0, most), more: found.length > most };
}

/** Throws on a taken name (`folders_name_key`). */
export async function renameFolder(tx: Queryable, folder: { id: string; name: string; now: Date }): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE folders SET name = ${folder.name}, name_folded = ${foldCase(folder.name)},
      updated_at = greatest(${folder.now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')
    WHERE id = ${folder.id}
  `);
}

const locks = {
  /** Blocks rotation and deletion. */
  key: sql.fragment`FOR KEY SHARE`,
  /** Also blocks other changes of the name and the grants. */
  grants: sql.fragment`FOR NO KEY UPDATE`,
  /** Also blocks writers of secrets, which retry later. */
  whole: sql.fragment`FOR UPDATE`,
} as const;
/**
 * How much of a folder is locked until the transaction ends. Each lock includes the ones before it.
 */
export type FolderLock = keyof typeof locks;

const lockedFolder = z.object({ id: z.string(), name: z.string(), key_version: z.number() });
export type LockedFolder = z.infer<typeof lockedFolder>;

/**
 * Locks a folder of the organization; null when there is none with this id. Read grants in a later
 * statement: a statement that waits for a lock sees other rows as they were before.
 */
export async function lockFolder(
  tx: Queryable,
  { orgId, folderId }: { orgId: string; folderId: string },
  lock: FolderLock,
): Promise<LockedFolder | null> {
  if (lock === "whole") await lockWholeFolder(tx, folderId);
  return tx.maybeOne(sql.type(lockedFolder)`
    SELECT id, name, key_version FROM folders WHERE id = ${folderId} AND org_id = ${orgId} ${locks[lock]}
  `);
}

export function countFolderSecrets(db: Queryable, folderId: string): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM secrets WHERE folder_id = ${folderId}
  `);
}

/** Deletes a folder with its secrets and grants. */
export async function deleteFolder(tx: Queryable, folderId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM folders WHERE id = ${folderId}`);
}

const holderRow = z.object({
  kind: z.enum(["user", "client"]),
  id: z.string(),
  name: z.string(),
  permission: z.enum(permissions),
  public_key: z.string(),
  /** Whether the folder's key was encrypted for this member or machine. */
  has_key: z.boolean(),
});
/** A person or machine with a usable grant on a folder. */
export type HolderRow = z.infer<typeof holderRow>;

/**
 * The people, by name, and then the machines with a usable grant on a folder. Suspended members,
 * auditors, and revoked or expired machines have none.
 */
export function listHolders(db: Queryable, folderId: string, now: Date): Promise<readonly HolderRow[]> {
  return db.any(sql.type(holderRow)`
    SELECT 'user' AS kind, u.id, u.name, g.permission, u.public_key, g.encrypted_key IS NOT NULL AS has_key
    FROM folder_members g
    JOIN users u ON u.id = g.user_id
    JOIN folders f ON f.id = g.folder_id
    JOIN memberships m ON m.org_id = f.org_id AND m.user_id = g.user_id
    WHERE g.folder_id = ${folderId} AND ${canHold}
    UNION ALL
    SELECT 'client', c.id, c.name, g.permission, c.public_key, g.encrypted_key IS NOT NULL
    FROM client_folders g JOIN clients c ON c.id = g.client_id
    WHERE g.folder_id = ${folderId} AND c.revoked_at IS NULL
      AND (c.expires_at IS NULL OR c.expires_at > ${now.toISOString()}::timestamptz)
    ORDER BY kind DESC, name, id
  `);
}

/** The folders among these that the person may manage. Locks all of them as `grants`. */
export async function listManagedFolders(
  tx: Queryable,
  { orgId, userId, folderIds }: { orgId: string; userId: string; folderIds: readonly string[] },
): Promise<readonly LockedFolder[]> {
  const ids = sql.array([...folderIds], "uuid");
  const folders = await tx.any(sql.type(lockedFolder)`
    SELECT id, name, key_version FROM folders WHERE org_id = ${orgId} AND id = ANY(${ids}) ORDER BY id ${locks.grants}
  `);
  const managed = await tx.anyFirst(sql.type(z.object({ folder_id: z.string() }))`
    SELECT folder_id FROM folder_members
    WHERE user_id = ${userId} AND permission = 'manage' AND folder_id = ANY(${ids})
  `);
  return folders.filter(({ id }) => managed.includes(id));
}
