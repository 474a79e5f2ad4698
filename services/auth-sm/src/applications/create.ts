import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers, requireHeldMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import { orConflict } from "../conflict.ts";
import { requireRoom } from "../counts/require-room.ts";
import type { Deps } from "../deps.ts";
import { type ApplicationRow, insertApplication } from "../store/machines/applications.ts";
import type { NewApplication } from "./bodies.ts";

/** POST /api/org/applications */
export function createApplication(
  deps: Deps,
  { caller, body, audit }: AuditedCall<User, unknown, NewApplication>,
): Promise<ApplicationRow> {
  const { name, description = "" } = body;
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, actor } = await requireHeldMembership(tx, caller, managers);
    await requireRoom(tx, deps, "applications", orgId);
    const application = await orConflict(
      insertApplication(tx, { id: deps.newId(), orgId, name, description, now: deps.now() }),
      { applications_name_key: "an application of this name exists" },
    );
    await enqueueAudit(
      tx,
      audit({ orgId, actor, target: { id: application.id, parent_id: orgId }, changes: { name } }),
    );
    return application;
  });
}
