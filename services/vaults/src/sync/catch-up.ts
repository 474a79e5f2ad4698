import { ServiceError } from "@coffer/errors";
import type { catchUpSince } from "@coffer/events";
import { decodeCursor, encodeCursor, timestampText } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import {
  type CatchUpKey,
  catchUpKey,
  type CatchUpQuery,
  deletionsSince,
  recordsSince,
  vaultsSince,
  visibilityBegunSince,
  visibilityEndedSince,
} from "../store/sync/catch-up.ts";
import { findMoment, isKnown } from "../store/sync/sync-ticks.ts";
import { oldestSync } from "./retention.ts";

type CatchUp = z.infer<typeof catchUpSince.output>;
type RecordCatchUp = CatchUp["records"][number];
type VaultCatchUp = CatchUp["vaults"][number];

/** The most rows that fit a bus message. */
const mostRows = 1_000;

interface Row extends CatchUpKey {
  at: string;
  created?: boolean;
}

interface Kind {
  find(db: Queryable, query: CatchUpQuery): Promise<readonly Row[]>;
  toEvents(rows: readonly Row[]): Partial<Pick<CatchUp, "records" | "vaults">>;
}

/** In the order of delivery: the loss of a vault comes before everything else. */
const kinds: readonly Kind[] = [
  { find: visibilityEndedSince, toEvents: (rows) => ({ vaults: byVisibility("vault_deleted", rows) }) },
  { find: visibilityBegunSince, toEvents: (rows) => ({ vaults: byVisibility("vault_created", rows) }) },
  { find: vaultsSince, toEvents: (rows) => ({ vaults: byVisibility("vault_updated", rows) }) },
  {
    find: recordsSince,
    toEvents: (rows) => ({
      records: byVault(rows, ({ created }) => (created === true ? "record_created" : "record_updated")),
    }),
  },
  { find: deletionsSince, toEvents: (rows) => ({ records: byVault(rows, () => "record_deleted") }) },
];

const catchUpCursor = z.object({
  from_x: z.string().regex(/^\d{1,20}$/),
  to_label: timestampText,
  kind: z
    .int()
    .min(0)
    .max(kinds.length - 1),
  after: catchUpKey.nullable(),
});
type CatchUpCursor = z.infer<typeof catchUpCursor>;

/**
 * A part of all events since a moment, read from the tables: the reply to `catchUpSince`.
 * @throws ServiceError `invalid_request` for a malformed `since` or `after`, `unavailable`
 */
export async function listCatchUp(
  deps: Pick<Deps, "database" | "now" | "ticker">,
  { since, after }: z.infer<typeof catchUpSince.input>,
): Promise<CatchUp> {
  const nothing = { records: [], vaults: [], after: null };
  const cursor = after === null ? await begin(deps, since) : decodeCursor(after, catchUpCursor);
  if ("server_time" in cursor) return { ...nothing, ...cursor };
  const { pool } = deps.database;
  if (after !== null && !(await isKnown(pool, { fromX: cursor.from_x, toLabel: cursor.to_label }))) {
    return { ...nothing, server_time: cursor.to_label, reset: true };
  }
  const part = await readCatchUp(pool, cursor);
  return { ...part, server_time: cursor.to_label, reset: false };
}

async function begin(
  { database, now, ticker }: Pick<Deps, "database" | "now" | "ticker">,
  since: string | null,
): Promise<CatchUpCursor | Pick<CatchUp, "reset" | "server_time">> {
  const label = since === null ? null : timestampText.safeParse(since).data;
  if (label === undefined) throw new ServiceError("invalid_request", "since is not a timestamp");
  await ticker.tick();
  const moment = await findMoment(database.pool, { label, oldest: oldestSync(now()) });
  if (moment === null)
    throw new ServiceError("unavailable", "sync is being set up; try again", { retryAfterSeconds: 1 });
  const { newest, from_x } = moment;
  if (from_x === null) return { server_time: newest, reset: label !== null };
  return { from_x, to_label: newest, kind: 0, after: null };
}

async function readCatchUp(db: Queryable, from: CatchUpCursor): Promise<Pick<CatchUp, "after" | "records" | "vaults">> {
  const records: RecordCatchUp[] = [];
  const vaults: VaultCatchUp[] = [];
  let { after } = from;
  let left = mostRows;
  for (const [number, { find, toEvents }] of kinds.entries()) {
    if (number < from.kind) continue;
    const found = await find(db, { fromX: from.from_x, after, limit: left + 1 });
    const rows = found.slice(0, left);
    const events = toEvents(rows);
    records.push(...(events.records ?? []));
    vaults.push(...(events.vaults ?? []));
    after = rows.at(-1) ?? after;
    if (found.length > left) return { records, vaults, after: encodeAfter({ ...from, kind: number, after }) };
    left -= rows.length;
    after = null;
  }
  return { records, vaults, after: null };
}

function encodeAfter({ after, ...at }: CatchUpCursor): string {
  const key = after && { x: after.x, vault_id: after.vault_id, id: after.id };
  return encodeCursor({ ...at, after: key });
}

/**
 * One event for all people whose visibility of a vault changed at one time: keeps the order for
 * each.
 */
function byVisibility(action: VaultCatchUp["action"], rows: readonly Row[]): VaultCatchUp[] {
  return Array.from(Map.groupBy(rows, ({ vault_id, at }) => `${vault_id} ${at}`).values(), (group) => {
    const [{ vault_id, at: updated_at } = { vault_id: "", at: "" }] = group;
    return { action, vault_id, updated_at, user_ids: group.map(({ id }) => id) };
  });
}

/** One event for all records of a vault. */
function byVault(
  rows: readonly Row[],
  action: (row: Row) => RecordCatchUp["changes"][number]["action"],
): RecordCatchUp[] {
  return Array.from(Map.groupBy(rows, ({ vault_id }) => vault_id).entries(), ([vault_id, group]) => ({
    vault_id,
    changes: group.map((row) => ({ action: action(row), record_id: row.id, updated_at: row.at })),
  }));
}
