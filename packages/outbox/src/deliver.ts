import { type AuditDraft, type EventSubject, isAuditAppend, type RpcSubject } from "@coffer/events";

export type RelayedSubject = RpcSubject<unknown, unknown> | EventSubject<unknown>;

/**
 * Delivers messages of one subject in order; audit records as one list. Resolves after the
 * acknowledgement of all of them.
 *
 * After ServiceError `unavailable` or `internal_error` the relay retries without limit, and
 * suspects a message only if others are delivered. After any other error it finds and parks the bad
 * message.
 */
export type Deliver = (subject: RelayedSubject, payloads: unknown[]) => Promise<void>;

/** The part of the bus that deliveries use. */
export interface DeliveryBus {
  request<Input, Output>(rpc: RpcSubject<Input, Output>, input: Input): Promise<Output>;
  publish<Payload>(event: EventSubject<Payload>, payload: Payload): void;
  flush(): Promise<void>;
}

/**
 * Delivers over the bus: audit records and what a subject can merge as one request, other requests
 * one by one, events as publishes with a flush.
 */
export function deliverOver(bus: DeliveryBus): Deliver {
  return async (subject, payloads) => {
    if (subject.kind === "rpc" && isAuditAppend(subject)) {
      // Rows of this subject are written as records; the bus checks them again.
      await bus.request(subject, { records: payloads as AuditDraft[] });
    } else if (subject.kind === "rpc" && subject.merge !== undefined) {
      await bus.request(subject, subject.merge(payloads));
    } else if (subject.kind === "rpc") {
      for (const payload of payloads) await bus.request(subject, payload);
    } else {
      for (const payload of payloads) bus.publish(subject, payload);
      await bus.flush();
    }
  };
}
