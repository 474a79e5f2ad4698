import {
  folderHolders,
  folderCatchUpSince,
  identifyMachine,
  membershipOf,
  memberships,
  namedMemberships,
  planChanged,
  revokedSessions,
  signingKeys,
} from "@coffer/events";
import { chosenOrg } from "@coffer/http";
import type { Deps } from "./deps.ts";
import { listFolderChangesSince } from "./folders/list-changes.ts";
import { listReaders } from "./folders/list-readers.ts";
import { identifyForScanner } from "./machine/identify-for-scanner.ts";
import { listAllMemberships } from "./members/list-all.ts";
import { listNamedMemberships } from "./members/list-named.ts";
import { applyPlan } from "./orgs/apply-plan.ts";
import { listRevoked } from "./sessions/list-revoked.ts";
import { findMembership, hasMembership } from "./store/organizations/memberships.ts";
import { sessionLasts } from "./store/accounts/sessions.ts";

/** Registers the replies to requests of other services. */
export function answerRequests(deps: Deps): void {
  deps.bus.reply(signingKeys, async () => ({ keys: [...(await deps.keys.present()).publicKeys] }));
  deps.bus.reply(revokedSessions, (input) => listRevoked(deps, input));
  deps.bus.reply(memberships, ({ after }) => listAllMemberships(deps, after));
  deps.bus.reply(namedMemberships, ({ named }) => listNamedMemberships(deps, named));
  deps.bus.reply(folderHolders, (input) => listReaders(deps, input));
  deps.bus.reply(folderCatchUpSince, (input) => listFolderChangesSince(deps, input));
  deps.bus.reply(planChanged, (report) => applyPlan(deps, report));
  deps.bus.reply(identifyMachine, (input) => identifyForScanner(deps, input));
  deps.bus.reply(membershipOf, async ({ user_id: userId, session_id: sessionId, org_id: orgId }) => {
    const { pool } = deps.database;
    const [session_active, membership, has_organization] = await Promise.all([
      sessionLasts(deps.database, { userId, sessionId }, deps.now()),
      findMembership(pool, { userId, orgId: chosenOrg(orgId) }, deps.config.COFFER_BILLING),
      hasMembership(pool, userId),
    ]);
    return { session_active, has_organization, membership: session_active ? membership : null };
  });
}
