import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { foldCase } from "../../fold-case.ts";
import { isAfterName, mostNamed, type NameKey, type Wanted } from "../list-parts.ts";

const applicationRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: z.string(),
});
export type ApplicationRow = z.infer<typeof applicationRow>;

const applicationColumns = sql.fragment`id, name, description, created_at`;

/** Throws on a taken name (`applications_name_key`). */
export function insertApplication(
  tx: Queryable,
  application: { id: string; orgId: string; name: string; description: string; now: Date },
): Promise<ApplicationRow> {
  const { id, orgId, name, description, now } = application;
  return tx.one(sql.type(applicationRow)`
    INSERT INTO applications (id, org_id, name, name_folded, description, created_at)
    VALUES (${id}, ${orgId}, ${name}, ${foldCase(name)}, ${description}, ${now.toISOString()})
    RETURNING ${applicationColumns}
  `);
}

const listedApplicationRow = applicationRow.extend({ name_folded: z.string() });
export type ListedApplicationRow = z.infer<typeof listedApplicationRow>;

/** A part of the applications of an organization, by name. */
export async function listApplications(
  db: Queryable,
  { orgId, after, limit = mostNamed }: { orgId: string } & Wanted<NameKey>,
): Promise<{ rows: readonly ListedApplicationRow[]; more: boolean }> {
  const most = Math.min(limit, mostNamed);
  const listed = sql.fragment`FROM applications WHERE org_id = ${orgId}`;
  const found = await db.any(sql.type(listedApplicationRow)`
    SELECT ${applicationColumns}, name_folded ${listed} AND ${isAfterName(after, listed)}
    ORDER BY name_folded LIMIT ${most + 1}
  `);
  return { rows: found.slice(0, most), more: found.length > most };
}

/** An application of the organization; null when it has none with this id. */
export function findApplication(db: Queryable, orgId: string, id: string): Promise<ApplicationRow | null> {
  return db.maybeOne(sql.type(applicationRow)`
    SELECT ${applicationColumns} FROM applications WHERE org_id = ${orgId} AND id = ${id}
  `);
}

/** Locks an application with its tokens and clients (exclusive). */
export function lockApplication(tx: Queryable, orgId: string, id: string): Promise<ApplicationRow | null> {
  return tx.maybeOne(sql.type(applicationRow)`
    SELECT ${applicationColumns} FROM applications WHERE org_id = ${orgId} AND id = ${id} FOR UPDATE
  `);
}

/** Locks an application against deletion (shared), for rows that refer to it. */
export function holdApplication(tx: Queryable, orgId: string, id: string): Promise<ApplicationRow | null> {
  return tx.maybeOne(sql.type(applicationRow)`
    SELECT ${applicationColumns} FROM applications WHERE org_id = ${orgId} AND id = ${id} FOR KEY SHARE
  `);
}

/** Changes the given fields. Throws on a taken name (`applications_name_key`). */
export function updateApplication(
  tx: Queryable,
  id: string,
  { name, description }: { name?: string | undefined; description?: string | undefined },
): Promise<ApplicationRow> {
  return tx.one(sql.type(applicationRow)`
    UPDATE applications SET name = coalesce(${name ?? null}, name),
      name_folded = coalesce(${name === undefined ? null : foldCase(name)}, name_folded),
      description = coalesce(${description ?? null}, description)
    WHERE id = ${id}
    RETURNING ${applicationColumns}
  `);
}

/** Deletes an application with its tokens. Its clients stay, without an application. */
export async function deleteApplication(tx: Queryable, id: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM applications WHERE id = ${id}`);
}
