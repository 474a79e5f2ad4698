import { auditAppend } from "@coffer/events";
import type { AuditDraft } from "@coffer/events";
import type { Database } from "./database.ts";
import { laneOf } from "./enqueue.ts";
import { createGroupCommit } from "./group-commit.ts";

/** A row stays well under what one request on the bus may carry. */
const mostBytesPerRow = 192 * 1024;

interface Written {
  id: string;
  json: string;
  bytes: number;
}

/** A commit that waits for the disk as a record's does, and leaves nothing but this in the log of Postgres. */
const commitOfNothing = "select pg_logical_emit_message(true, 'coffer', '')";

/**
 * For actions that change nothing here: reads and denials. The returned function resolves when the record is durable,
 * which is before the answer may go out. All records that wait share one insert of one outbox row; the first goes at
 * once. Throws ServiceError `unavailable` when Postgres is away.
 *
 * For null it does all that it does for a record, and leaves none: for what is to take as long as if it left one.
 */
export function createAuditLog(database: Database): (record: AuditDraft | null) => Promise<void> {
  const lane = laneOf(auditAppend);
  const { subject } = auditAppend;
  const insertRow = database.preparedWrite(
    "coffer_audit_insert_row",
    "insert into outbox (lane, subject, id, payload) values ($1, $2, $3, $4)",
  );
  const insertRows = database.preparedWrite(
    "coffer_audit_insert_rows",
    `insert into outbox (lane, subject, id, payload)
     select $1, $2, row.id, row.payload from unnest($3::uuid[], $4::json[]) as row (id, payload)`,
  );
  const insertNothing = database.preparedWrite("coffer_audit_insert_nothing", commitOfNothing);
  const flushSeconds = database.telemetry.metrics.histogram(
    "coffer_audit_flush_seconds",
    "Time to make the audit records that waited durable",
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  );

  const commit = createGroupCommit<Written | null>({
    write: async (records) => {
      const started = performance.now();
      const rows = rowsOf(records.filter((record) => record !== null));
      const [first] = rows;
      if (first === undefined) await insertNothing([]);
      else if (rows.length === 1) await insertRow([lane, subject, first.id, first.json]);
      else await insertRows([lane, subject, rows.map(({ id }) => id), rows.map(({ json }) => json)]);
      flushSeconds.observe((performance.now() - started) / 1_000);
    },
  });

  return (record) => {
    if (record === null) return commit(null);
    const json = JSON.stringify(record);
    return commit({ id: record.id, json, bytes: Buffer.byteLength(json) });
  };
}

/** Records in as few rows as their size allows; a row is an array of records under the id of its first. */
function rowsOf(records: readonly Written[]): { id: string; json: string }[] {
  const rows: { id: string; records: string[]; bytes: number }[] = [];
  for (const { id, json, bytes } of records) {
    const last = rows.at(-1);
    if (last === undefined || last.bytes + bytes > mostBytesPerRow) rows.push({ id, records: [json], bytes });
    else {
      last.records.push(json);
      last.bytes += bytes;
    }
  }
  return rows.map((row) => ({ id: row.id, json: `[${row.records.join(",")}]` }));
}
