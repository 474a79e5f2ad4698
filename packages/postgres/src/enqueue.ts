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
