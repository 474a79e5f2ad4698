import { z } from "zod";
import { receivedAuditDraft } from "./audit-record.ts";
import { type AuditRecorder, auditRecorders } from "./recorded-actions.ts";
import { only, type RpcSubject } from "./subject.ts";

const responder = "siem-forwarder";
const input = z.object({ records: z.array(receivedAuditDraft).min(1) });
const output = z.object({ stored: z.int().nonnegative() });

export type AuditAppend = RpcSubject<z.infer<typeof input>, z.infer<typeof output>>;

/**
 * The subject of audit records in an outbox, and nowhere on the bus: the relay sends them on the
 * subject of its own service. Former versions sent them on this one.
 */
export const auditAppend = {
  kind: "rpc",
  subject: "coffer.rpc.siem-forwarder.append",
  responder,
  callers: only(...auditRecorders),
  input,
  output,
} satisfies AuditAppend;

/**
 * Appends the records of one service to the chains of their organizations. At least once with
 * effect once: a record whose `id` is stored already changes nothing. The reply means that all of
 * them are durable. siem-forwarder refuses a request with an action that `mayRecord` denies to the
 * service: `invalid_request`.
 */
export function auditAppendOf(service: AuditRecorder): AuditAppend {
  return { ...auditAppend, subject: `${auditAppend.subject}-${service}`, callers: only(service) };
}

/** The append subjects on the bus, one for each service that records. */
export const auditAppends: readonly AuditAppend[] = auditRecorders.map(auditAppendOf);

const names: ReadonlySet<string> = new Set([auditAppend, ...auditAppends].map(({ subject }) => subject));

/** Whether messages of this subject are audit records, in an outbox or on the bus. */
export const isAuditAppend = (subject: { subject: string }): boolean => names.has(subject.subject);

/** The service as one that records, or undefined for one that does not. */
export const auditRecorderOf = (service: string): AuditRecorder | undefined =>
  auditRecorders.find((recorder) => recorder === service);
