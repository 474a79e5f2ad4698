import type { Membership } from "@coffer/events";
import { membershipChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueue } from "@coffer/postgres";
import type { Deps } from "../deps.ts";

/** Tells who keeps a copy of memberships of one that began, changed or ended, when the transaction commits. */
export async function tellMembership(
  tx: Transaction,
  deps: Pick<Deps, "newId">,
  membership: Membership,
): Promise<void> {
  await enqueue(tx, membershipChanged, { memberships: [membership] }, { id: deps.newId() });
}
