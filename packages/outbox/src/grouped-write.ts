import { briefly, briefWaits, type Database, eachOf } from "@coffer/postgres";
import { laneOf, type MessageSubject, outboxColumns, outboxValues } from "./enqueue.ts";

/** A message of a write. */
interface WriteMessage {
  subject: MessageSubject;
  /** SQL of the message's id, a UUID, and of its JSON. Both may use `notes` and `written`. */
  id: string;
  payload: string;
}

/** A statement that writes for all requests that wait at the time, and commits by itself. */
export interface GroupedWrite {
  /** The name of the prepared statement. */
  name: string;
  /** The columns that name what a request writes. */
  key: readonly string[];
  /** The columns of a request with their types, in the order of its values. */
  columns: Readonly<Record<string, string>>;
  /** SQL: further columns of a request, read before any lock. */
  snapshot?: string;
  /** SQL: the tables and the condition under which a request may write. `locked` names the table to lock. */
  authorized: { also?: string; from: string; where: string; locked: string };
  /** SQL: the change, as common table expressions that read `held`. The last one is named `written`. */
  change: string;
  /** The columns of `held` that messages use. Content is left out: every write reads all of them. */
  noted: readonly string[];
  messages: readonly WriteMessage[];
  /** The columns of `written` that a request gets. */
  answer: readonly string[];
  /** A subject whose delivery starts at the commit, not with the relay's next poll. */
  announces?: MessageSubject;
}

/**
 * Prepares a grouped write. A request gets null, and writes nothing, if it is not authorized now, if its
 * table row or its target is locked, or if another request of the group writes the same: its caller
 * authorizes again. If it is authorized but `change` has no row for it, the answer's columns are null.
 * Targets are written in the order of the key, which avoids deadlocks; no lock is waited for longer than
 * 250 ms.
 */
export function prepareGroupedWrite<Answer>(
  database: Database,
  { name, key, columns, snapshot, authorized, change, noted, messages, answer, announces }: GroupedWrite,
): (values: unknown[]) => Promise<Answer | null> {
  const keys = key.join(", ");
  const { also, from, where, locked } = authorized;
  const rows = messages.map(({ subject, ...message }) => outboxValues(subject, message));
  const text = `
    WITH requested AS MATERIALIZED (
      SELECT DISTINCT ON (${keys}) ${["*", snapshot].filter(Boolean).join(", ")} FROM ${eachOf(columns)} ORDER BY ${keys}, n
    ),
    held AS MATERIALIZED (
      SELECT ${["requested.*", also, briefWaits].filter(Boolean).join(", ")} FROM requested ${from}
      WHERE ${where} FOR KEY SHARE OF ${locked} SKIP LOCKED
    ),
    notes AS MATERIALIZED (SELECT ${[...key, ...noted].join(", ")} FROM held),
    ${change},
    enqueued AS (
      INSERT INTO outbox (${outboxColumns})
      SELECT message.* FROM written JOIN notes USING (${keys})
      CROSS JOIN LATERAL (VALUES ${rows.join(", ")}) AS message (${outboxColumns})
    )
    SELECT held.n::integer AS n, ${answer.map((column) => `written.${column}`).join(", ")}
    FROM held LEFT JOIN written USING (${keys})`;
  const options = announces === undefined ? {} : { announces: laneOf(announces) };
  return briefly<Answer | null>(database.preparedWriteEach<Answer>(name, text, options), null);
}
