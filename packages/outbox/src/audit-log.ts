import { auditAppend, type AuditDraft } from "@coffer/events";
import { createGroupCommit, type Database } from "@coffer/postgres";
import { laneOf } from "./enqueue.ts";

/** Well below the payload limit of the bus. */
const mostBytesPerRow = 192 * 1024;

interface Written {
  id: string;
  json: string;
  bytes: number;
}

/** A commit that waits for the disk like a record's, and writes only a WAL message. */
const commitOfNothing = "select pg_logical_emit_message(true, 'coffer', '')";

/**
 * Audits reads and denials. The returned function resolves when the record is durable: await it
 * before the response. Concurrent records share one insert. Throws ServiceError `unavailable` if
 * Postgres is away.
 *
 * Null takes as long as a record and stores none, for equal response times.
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
    "Time to commit the waiting audit records",
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

/** Packs records into few rows; a row is an array of records with the id of the first. */
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
