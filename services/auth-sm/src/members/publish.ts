import { type Membership, membershipChanged } from "@coffer/events";
import { enqueue } from "@coffer/outbox";
import { type Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";

/** Publishes, when the transaction commits, that a membership began, changed or ended. */
export async function publishMembership(
  tx: Transaction,
  deps: Pick<Deps, "newId">,
  membership: Membership,
): Promise<void> {
  await enqueue(tx, membershipChanged, { memberships: [membership] }, { id: deps.newId() });
}
