import { isAuditAppend, membershipChanged } from "@coffer/events";
import type { AuditDraft, EventSubject, Membership, RpcSubject } from "@coffer/events";

/** What the relay hands over: one of the subjects of `@coffer/events`. */
export type RelayedSubject = RpcSubject<unknown, unknown> | EventSubject<unknown>;

/**
 * Hands messages of one subject to their consumers, in the order in which they were written; audit records come as one
 * list of records, whatever rows they were in. Returns when the consumer has acknowledged all of them.
 *
 * A ServiceError `unavailable` or `internal_error` says nothing about the messages: they are tried again for as
 * long as it takes, and one of them is suspected only when others are taken. Any other error means that one of these
 * messages is at fault: the relay finds it and parks it.
 */
export type Deliver = (subject: RelayedSubject, payloads: unknown[]) => Promise<void>;

/** The part of the bus that deliveries use. */
export interface DeliveryBus {
  request<Input, Output>(rpc: RpcSubject<Input, Output>, input: Input): Promise<Output>;
  publish<Payload>(event: EventSubject<Payload>, payload: Payload): void;
  flush(): Promise<void>;
}

/**
 * Deliveries over the bus: audit records as one request, and so memberships, of which many may have waited; other requests
 * one by one; events as plain publishes that the server has when `flush` says so.
 */
export function deliverOver(bus: DeliveryBus): Deliver {
  return async (subject, payloads) => {
    if (subject.kind === "rpc" && isAuditAppend(subject)) {
      // Rows of this subject are written as records; the bus checks them again.
      await bus.request(subject, { records: payloads as AuditDraft[] });
    } else if (subject.subject === membershipChanged.subject) {
      // As above.
      const changes = payloads as { memberships: Membership[] }[];
      await bus.request(membershipChanged, { memberships: changes.flatMap(({ memberships }) => memberships) });
    } else if (subject.kind === "rpc") {
      for (const payload of payloads) await bus.request(subject, payload);
    } else {
      for (const payload of payloads) bus.publish(subject, payload);
      await bus.flush();
    }
  };
}
