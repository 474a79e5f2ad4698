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
  const lanes = written.get(tx.transactionId) ?? new Set();
  written.set(tx.transactionId, lanes.add(laneOf(subject)));
}

/**
 * Writes one audit record to the outbox, in the transaction of what it is about. Nobody waits for it: the relay's next
 * look takes it, together with the others. Throws a ZodError as `enqueue`.
 */
export async function enqueueAudit(tx: Transaction, record: AuditDraft): Promise<void> {
  await insert(tx, auditAppend, record.id, JSON.stringify([auditDraft.parse(record)]));
}

/**
 * Writing an audit record as part of a prepared write, so that both or neither are done.
 * @param from the name of a common table expression of the statement: the record is written when it has a row
 * @param id the parameter (`$8`) for the record's id, a UUID
 * @param payload the parameter for what `auditPayload` returns
 * @returns the text of a further common table expression
 */
export function auditInsert({ from, id, payload }: { from: string; id: string; payload: string }): string {
  return `INSERT INTO outbox (lane, subject, id, payload)
    SELECT '${laneOf(auditAppend)}', '${auditAppend.subject}', ${id}::uuid, ${payload}::json FROM ${from}`;
}

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
