import { encodeCursor, nameText, timestampText, uuidText } from "@coffer/http";
import { type Fragment, sql } from "@coffer/postgres";
import { z } from "zod";

// Parts of long lists (docs/adr/0011), which are in order of name or of creation.

/** A part of a list of folders or applications, which have up to 5 KiB each. */
export const mostNamed = 200;
/** A part of a list of tokens or machines. */
const mostMachines = 200;
/** A part ends with the token or machine that reaches this many folders, of up to 700 bytes each. */
const mostGrants = 2_000;

/** Which rows of a list: those after a position, at most `limit`. */
export interface Wanted<Key> {
  after: Key | undefined;
  limit: number | undefined;
}

/** A cursor holds the start of a name, because it has at most 512 characters. */
const startCharacters = 64;

const nameKey = z.object({ id: uuidText, start: nameText(startCharacters) });
/** A position in a list by name: after the row with this id, whose folded name has this start. */
export type NameKey = z.infer<typeof nameKey>;
export const namePosition: z.ZodType<NameKey> = nameKey;

export function nameKeyOf({ id, name_folded }: { id: string; name_folded: string }): NameKey {
  return { id, start: Array.from(name_folded).slice(0, startCharacters).join("") };
}

export function nameCursor(row: { id: string; name_folded: string }): string {
  return encodeCursor(nameKeyOf(row));
}

/**
 * Whether a row is after a position. `listed` is the `FROM … WHERE …` of the whole list: a cursor is a
 * caller's word, so it may name only a row that the caller can list. If the row at the position was
 * renamed or deleted, the list goes on with the start of its name and may repeat rows, but leaves
 * none out.
 */
export function isAfterName(after: NameKey | undefined, listed: Fragment): Fragment {
  if (after === undefined) return sql.fragment`true`;
  const { id, start } = after;
  return sql.fragment`name_folded > coalesce((
    SELECT name_folded ${listed} AND id = ${id} AND starts_with(name_folded, ${start})
  ), ${start})`;
}

const timeKey = z.object({ created_at: timestampText, id: uuidText });
/** A position in a list by time of creation. */
export type TimeKey = z.infer<typeof timeKey>;
export const timePosition: z.ZodType<TimeKey> = timeKey;

export function timeCursor({ created_at, id }: TimeKey): string {
  return encodeCursor({ created_at, id });
}

export function isAfterTime(after: TimeKey | undefined): Fragment {
  if (after === undefined) return sql.fragment`true`;
  return sql.fragment`(created_at, id) > (${after.created_at}::timestamptz, ${after.id}::uuid)`;
}

/** The lists of an application: their grants on folders, and the column that names the row. */
const grantsOf = {
  access_tokens: { table: "access_token_folders", column: "token_id" },
  clients: { table: "client_folders", column: "client_id" },
};

/** A part of a list of an application, in order of creation. */
export interface ApplicationPart {
  /** The ids of the rows after a position, with their number `n` and `found`, which `rowsOf` reads. */
  rows: Fragment;
  /** The condition of the rows that fit into the part. */
  fits: Fragment;
}

/** A part of the tokens or machines of an application: those after a position, at most `limit`. */
export function partOfApplication(
  table: keyof typeof grantsOf,
  { applicationId, after, limit = mostMachines }: { applicationId: string } & Wanted<TimeKey>,
): ApplicationPart {
  const most = Math.min(limit, mostMachines);
  const grants = grantsOf[table];
  const looked = sql.fragment`
    SELECT id, created_at, (
      SELECT count(*) FROM ${sql.identifier([grants.table])} g
      WHERE g.${sql.identifier([grants.column])} = ${sql.identifier([table, "id"])}
    ) AS grants
    FROM ${sql.identifier([table])} WHERE application_id = ${applicationId} AND ${isAfterTime(after)}
    ORDER BY created_at, id LIMIT ${most + 1}`;
  return {
    rows: sql.fragment`
      SELECT id, (row_number() OVER w)::integer AS n, (sum(grants) OVER w - grants)::integer AS grants_before,
        (count(*) OVER ())::integer AS found
      FROM (${looked}) AS looked WINDOW w AS (ORDER BY created_at, id ROWS UNBOUNDED PRECEDING)`,
    fits: sql.fragment`n <= ${most} AND grants_before < ${mostGrants}`,
  };
}

/** The rows of a part, and whether more follow. */
export function rowsOf<Row extends { found: number }>(
  found: readonly Row[],
): { rows: readonly Omit<Row, "found">[]; more: boolean } {
  return { rows: found.map(({ found: _, ...row }) => row), more: (found[0]?.found ?? 0) > found.length };
}
