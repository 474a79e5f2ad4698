import { ServiceError } from "@coffer/errors";
import type { newsSince } from "@coffer/events";
import { decodeCursor, encodeCursor, timestampText } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import type { NewsKey, NewsQuery } from "../store/sync-news.ts";
import {
  deletionsSince,
  newsKey,
  recordsSince,
  sightsBegunSince,
  sightsEndedSince,
  vaultsSince,
} from "../store/sync-news.ts";
import { findMoment, isKnown } from "../store/sync-ticks.ts";
import { oldestSync } from "./retention.ts";

type News = z.infer<typeof newsSince.output>;
type RecordNews = News["records"][number];
type VaultNews = News["vaults"][number];

/** So many rows of any kind fit an answer on the bus. */
const mostRows = 1_000;

interface Row extends NewsKey {
  at: string;
  created?: boolean;
}

interface Kind {
  find(db: Queryable, query: NewsQuery): Promise<readonly Row[]>;
  tell(rows: readonly Row[]): Partial<Pick<News, "records" | "vaults">>;
}

/** In the order in which they are told: who lost a vault hears of that before anything else. */
const kinds: readonly Kind[] = [
  { find: sightsEndedSince, tell: (rows) => ({ vaults: bySight("vault_deleted", rows) }) },
  { find: sightsBegunSince, tell: (rows) => ({ vaults: bySight("vault_created", rows) }) },
  { find: vaultsSince, tell: (rows) => ({ vaults: bySight("vault_updated", rows) }) },
  {
    find: recordsSince,
    tell: (rows) => ({
      records: byVault(rows, ({ created }) => (created === true ? "record_created" : "record_updated")),
    }),
  },
  { find: deletionsSince, tell: (rows) => ({ records: byVault(rows, () => "record_deleted") }) },
];

const place = z.object({
  from_x: z.string().regex(/^\d{1,20}$/),
  to_label: timestampText,
  kind: z
    .int()
    .min(0)
    .max(kinds.length - 1),
  after: newsKey.nullable(),
});
type Place = z.infer<typeof place>;

/**
 * A part of what changed anywhere since a moment: the reply to `newsSince`.
 * @throws ServiceError `invalid_request` for a `since` or `after` of another form, `unavailable`
 */
export async function listNews(
  deps: Pick<Deps, "database" | "now" | "ticker">,
  { since, after }: z.infer<typeof newsSince.input>,
): Promise<News> {
  const nothing = { records: [], vaults: [], after: null };
  const begun = after === null ? await begin(deps, since) : decodeCursor(after, place);
  if ("server_time" in begun) return { ...nothing, ...begun };
  const { pool } = deps.database;
  if (after !== null && !(await isKnown(pool, { fromX: begun.from_x, toLabel: begun.to_label }))) {
    return { ...nothing, server_time: begun.to_label, reset: true };
  }
  const part = await readNews(pool, begun);
  return { ...part, server_time: begun.to_label, reset: false };
}

async function begin(
  { database, now, ticker }: Pick<Deps, "database" | "now" | "ticker">,
  since: string | null,
): Promise<Place | Pick<News, "reset" | "server_time">> {
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

async function readNews(db: Queryable, from: Place): Promise<Pick<News, "after" | "records" | "vaults">> {
  const records: RecordNews[] = [];
  const vaults: VaultNews[] = [];
  let { after } = from;
  let left = mostRows;
  for (const [number, { find, tell }] of kinds.entries()) {
    if (number < from.kind) continue;
    const found = await find(db, { fromX: from.from_x, after, limit: left + 1 });
    const rows = found.slice(0, left);
    const told = tell(rows);
    records.push(...(told.records ?? []));
    vaults.push(...(told.vaults ?? []));
    after = rows.at(-1) ?? after;
    if (found.length > left) return { records, vaults, after: placeAfter({ ...from, kind: number, after }) };
    left -= rows.length;
    after = null;
  }
  return { records, vaults, after: null };
}

function placeAfter({ after, ...at }: Place): string {
  const behind = after && { x: after.x, vault_id: after.vault_id, id: after.id };
  return encodeCursor({ ...at, after: behind });
}

/** One entry for all people to whom the same happened to a vault at the same time: by it each is told the last last. */
function bySight(action: VaultNews["action"], rows: readonly Row[]): VaultNews[] {
  return Array.from(Map.groupBy(rows, ({ vault_id, at }) => `${vault_id} ${at}`).values(), (group) => {
    const [{ vault_id, at: updated_at } = { vault_id: "", at: "" }] = group;
    return { action, vault_id, updated_at, user_ids: group.map(({ id }) => id) };
  });
}

/** One entry for all records of a vault. */
function byVault(rows: readonly Row[], action: (row: Row) => RecordNews["changes"][number]["action"]): RecordNews[] {
  return Array.from(Map.groupBy(rows, ({ vault_id }) => vault_id).entries(), ([vault_id, group]) => ({
    vault_id,
    changes: group.map((row) => ({ action: action(row), record_id: row.id, updated_at: row.at })),
  }));
}
