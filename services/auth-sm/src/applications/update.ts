import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import { orConflict } from "../conflict.ts";
import type { Deps } from "../deps.ts";
import {
  type ApplicationRow,
  lockApplication,
  updateApplication as changeApplication,
} from "../store/machines/applications.ts";
import type { ApplicationChange, ApplicationPath } from "./bodies.ts";

/** PATCH /api/org/applications/{id}: A field that is not sent is not changed. */
export function updateApplication(
  deps: Deps,
  { caller, params, body, audit }: AuditedCall<User, ApplicationPath, ApplicationChange>,
): Promise<ApplicationRow> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: lockApplication });
    const { orgId, actor, application: present } = reached;
    const application = await orConflict(changeApplication(tx, present.id, body), {
      applications_name_key: "an application of this name exists",
    });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { parent_id: orgId },
        changes: { name: application.name, previous_name: present.name },
      }),
    );
    return application;
  });
}
