import { ServiceError } from "@coffer/errors";
import type { AuditDraft } from "@coffer/events";
import { timestampText, uuidText } from "@coffer/http";

/**
 * The chain of a record: its organization's, or without one the chain of the person who acted. In a
 * failed attempt of an unknown actor it is the chain of the target.
 * @throws ServiceError `invalid_request` for a record that no chain can hold, which names it by its
 * id
 */
export function chainOf(record: AuditDraft): string {
  const { data: chainId } = uuidText.safeParse(record.org_id ?? personOf(record));
  if (chainId === undefined) throw unfit(record, "belongs to no chain");
  if (!timestampText.safeParse(record.time).success) throw unfit(record, "has a time that is not ISO 8601 in UTC");
  if (record.actor.id?.includes("\0") === true) throw unfit(record, "has an actor id that cannot be stored");
  return chainId;
}

function personOf({ actor, target }: AuditDraft): string | null {
  if (actor.type === "user") return actor.id;
  return target.type === "user" ? target.id : null;
}

/** The refusal of one record, by its id: the sender parks it and continues with the others. */
export function unfit({ id }: AuditDraft, problem: string): ServiceError {
  return new ServiceError("invalid_request", `the audit record ${id} ${problem}`);
}
