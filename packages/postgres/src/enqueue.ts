import { auditAppend, auditDraft } from "@coffer/events";
import type { AuditDraft, EventSubject, RpcSubject } from "@coffer/events";
import { sql } from "./sql.ts";
import type { Transaction } from "./sql.ts";

/** The lanes to which transactions wrote something that is awaited, by slonik's id of the transaction. */
const written = new Map<string, Set<string>>();

/** The lanes that the transaction's commit should wake; forgets them. */
export function takeWritten(transactionId: string): ReadonlySet<string> {
  const lanes = written.get(transactionId) ?? new Set();
  written.delete(transactionId);
  return lanes;
}

/** Events wait together; requests wait for the one who answers. */
export function laneOf(subject: { kind: "event" } | { kind: "rpc"; responder: string }): string {
  return subject.kind === "event" ? "event" : subject.responder;
}

/**
 * Writes one message to the outbox, in the caller's transaction: it is delivered, at least once, if and only if the
 * transaction commits. `id` (a UUID) is the message's own, by which consumers know it again.
 * Throws a ZodError when the payload is not what the subject says: a bug of the caller.
 */
export async function enqueue<Payload>(
  tx: Transaction,
  subject: RpcSubject<Payload, unknown> | EventSubject<Payload>,
  payload: NoInfer<Payload>,
  { id }: { id: string },
): Promise<void> {
  const schema = subject.kind === "rpc" ? subject.input : subject.payload;
  await insert(tx, subject, id, JSON.stringify(schema.parse(payload)));
  noteWritten(tx, subject);
}

/** The commit is to wake the lane. */
function noteWritten(tx: Transaction, subject: Parameters<typeof laneOf>[0]): void {
  const lanes = written.get(tx.transactionId) ?? new Set();
  written.set(tx.transactionId, lanes.add(laneOf(subject)));
}

/**
 * Writes many messages of one subject, in their order and in one statement; as `enqueue` for the rest.
 */
export async function enqueueEach<Payload>(
  tx: Transaction,
  subject: RpcSubject<Payload, unknown> | EventSubject<Payload>,
  messages: readonly { id: string; payload: NoInfer<Payload> }[],
): Promise<void> {
  if (messages.length === 0) return;
  const schema = subject.kind === "rpc" ? subject.input : subject.payload;
  await insertEach(
    tx,
    subject,
    messages.map(({ id, payload }) => [id, JSON.stringify(schema.parse(payload))]),
  );
  noteWritten(tx, subject);
}

/**
 * Writes one audit record to the outbox, in the transaction of what it is about. Nobody waits for it: the relay's next
 * look takes it, together with the others. Throws a ZodError as `enqueue`.
 */
export async function enqueueAudit(tx: Transaction, record: AuditDraft): Promise<void> {
  await insert(tx, auditAppend, record.id, JSON.stringify([auditDraft.parse(record)]));
}

/** Writes many audit records, in one statement; as `enqueueAudit` for the rest. */
export async function enqueueAudits(tx: Transaction, records: readonly AuditDraft[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => [record.id, JSON.stringify([auditDraft.parse(record)])]);
  await insertEach(tx, auditAppend, rows);
}

/**
 * One message as a row of `VALUES`, for a prepared write that leaves several: it inserts `outboxColumns` of them.
 * @param id SQL of the message's id, a UUID
 * @param payload SQL of its JSON
 */
export function outboxValues(
  subject: { kind: "event"; subject: string } | { kind: "rpc"; responder: string; subject: string },
  { id, payload }: { id: string; payload: string },
): string {
  return `('${laneOf(subject)}', '${subject.subject}', ${id}::uuid, ${payload}::json)`;
}

/** The columns that `outboxValues` has. */
export const outboxColumns = "lane, subject, id, payload";

/** The JSON of an audit record as the outbox keeps it. */
export function auditPayload(record: AuditDraft): string {
  return JSON.stringify([record]);
}

async function insert(
  tx: Transaction,
  subject: { kind: "event"; subject: string } | { kind: "rpc"; responder: string; subject: string },
  id: string,
  payload: string,
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    values (${laneOf(subject)}, ${id}, ${subject.subject}, ${payload})
  `);
}

/** `rows`: the id of each message, and its payload. */
async function insertEach(
  tx: Transaction,
  subject: { kind: "event"; subject: string } | { kind: "rpc"; responder: string; subject: string },
  rows: readonly string[][],
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    select ${laneOf(subject)}, message.id, ${subject.subject}, message.payload::json
    from ${sql.unnest(rows, ["uuid", "text"])} as message (id, payload)
  `);
}
