import { auditAppend, type AuditDraft, auditDraft, type EventSubject, type RpcSubject } from "@coffer/events";
import { announceAtCommit, sql, type Transaction } from "@coffer/postgres";

/** A subject whose messages the outbox takes. */
export type MessageSubject = { kind: "event"; subject: string } | { kind: "rpc"; responder: string; subject: string };

/**
 * One lane for all events, and one for each responder of requests. A commit announces the lanes that
 * it wrote to, which wakes the relay.
 */
export function laneOf(subject: { kind: "event" } | { kind: "rpc"; responder: string }): string {
  return subject.kind === "event" ? "event" : subject.responder;
}

/**
 * Writes a message to the outbox in the caller's transaction: it is delivered at least once if the
 * transaction commits. Consumers deduplicate by `id` (a UUID).
 * Throws a ZodError if the payload does not match the subject.
 */
export async function enqueue<Payload>(
  tx: Transaction,
  subject: RpcSubject<Payload, unknown> | EventSubject<Payload>,
  payload: NoInfer<Payload>,
  { id }: { id: string },
): Promise<void> {
  const schema = subject.kind === "rpc" ? subject.input : subject.payload;
  await insert(tx, subject, id, JSON.stringify(schema.parse(payload)));
  announceAtCommit(tx, laneOf(subject));
}

/** Writes many messages of one subject in one statement, as `enqueue`. */
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
  announceAtCommit(tx, laneOf(subject));
}

/**
 * Writes an audit record to the outbox in the caller's transaction. Does not wake the relay, whose
 * next scan batches audit records. Throws a ZodError as `enqueue`.
 */
export async function enqueueAudit(tx: Transaction, record: AuditDraft): Promise<void> {
  await insert(tx, auditAppend, record.id, JSON.stringify([auditDraft.parse(record)]));
}

/** Writes many audit records in one statement, as `enqueueAudit`. */
export async function enqueueAudits(tx: Transaction, records: readonly AuditDraft[]): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => [record.id, JSON.stringify([auditDraft.parse(record)])]);
  await insertEach(tx, auditAppend, rows);
}

/**
 * A message as a row of `VALUES` with the columns `outboxColumns`, for a prepared write.
 * @param id SQL of the message's id, a UUID
 * @param payload SQL of its JSON
 */
export function outboxValues(subject: MessageSubject, { id, payload }: { id: string; payload: string }): string {
  return `('${laneOf(subject)}', '${subject.subject}', ${id}::uuid, ${payload}::json)`;
}

/** The columns of `outboxValues`. */
export const outboxColumns = "lane, subject, id, payload";

/** The JSON of an audit record in the outbox. */
export function auditPayload(record: AuditDraft): string {
  return JSON.stringify([record]);
}

async function insert(tx: Transaction, subject: MessageSubject, id: string, payload: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    values (${laneOf(subject)}, ${id}, ${subject.subject}, ${payload})
  `);
}

/** `rows`: the id of each message, and its payload. */
async function insertEach(tx: Transaction, subject: MessageSubject, rows: readonly string[][]): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    insert into outbox (lane, id, subject, payload)
    select ${laneOf(subject)}, message.id, ${subject.subject}, message.payload::json
    from ${sql.unnest(rows, ["uuid", "text"])} as message (id, payload)
  `);
}
