import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { Actor } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { addMember } from "../members/add.ts";
import type { OrgRow } from "../store/orgs.ts";
import { insertOrg } from "../store/orgs.ts";

/** Makes an organization with a person as its owner: the first record of its audit. */
export async function foundOrg(
  tx: Transaction,
  deps: Deps,
  { name, userId, actor, request }: { name: string; userId: string; actor: Actor; request: RequestContext },
): Promise<OrgRow> {
  const now = deps.now();
  // Without billing every organization has every feature.
  const org = await insertOrg(tx, { id: deps.newId(), name, plan: "enterprise", now });
  await addMember(tx, deps, { orgId: org.id, userId, role: "owner" });
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      org_id: org.id,
      action: "org.member.accepted",
      actor,
      target: { type: "user", id: userId, parent_id: org.id },
      status: 201,
      changes: { role: "owner" },
    }),
  );
  return org;
}
