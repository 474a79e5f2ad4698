import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { orConflict } from "../conflict.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { memberHolder, orgRes } from "../histories/resources.ts";
import { addMember } from "../members/add.ts";
import { listMemberKeys } from "../store/organizations/members.ts";
import { getOrg, insertOrg, type OrgRow } from "../store/organizations/orgs.ts";

/** A new organization. With an entry, which contains the id, it has a history from the start. */
export interface Founding {
  id: string | undefined;
  name: string;
  entry: string | undefined;
  userId: string;
  actor: Actor;
  request: RequestContext;
}

/**
 * Creates an organization with a person as its owner, and its first audit record.
 * @throws ServiceError `conflict` when the id is taken, and what `appendEntry` throws
 */
export async function foundOrg(
  tx: Transaction,
  deps: Deps,
  { id = deps.newId(), name, entry, userId, actor, request }: Founding,
): Promise<OrgRow> {
  const now = deps.now();
  await orConflict(insertOrg(tx, { id, name, now }), {
    orgs_pkey: "this id of an organization is taken: make another one",
  });
  await addMember(tx, deps, { orgId: id, userId, role: "owner" });
  const founders = await listMemberKeys(tx, id);
  await appendEntry(tx, {
    res: orgRes(id),
    orgId: id,
    entry,
    by: `user:${userId}`,
    founds: true,
    expected: () => ({ name, set: founders.map(memberHolder) }),
  });
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      org_id: id,
      action: "org.member.accepted",
      actor,
      target: { type: "user", id: userId, parent_id: id },
      status: 201,
      changes: { role: "owner" },
    }),
  );
  return getOrg(tx, id, deps.config.COFFER_BILLING);
}
