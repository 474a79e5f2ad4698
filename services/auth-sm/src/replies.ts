import {
  folderHolders,
  folderNewsSince,
  membershipOf,
  memberships,
  namedMemberships,
  planChanged,
  revokedSessions,
  signingKeys,
} from "@coffer/events";
import { chosenOrg } from "@coffer/http";
import type { Deps } from "./deps.ts";
import { listFolderNewsSince } from "./folders/list-news.ts";
import { listReaders } from "./folders/list-readers.ts";
import { listAllMemberships } from "./members/list-all.ts";
import { listNamedMemberships } from "./members/list-named.ts";
import { keepPlan } from "./orgs/keep-plan.ts";
import { listRevoked } from "./sessions/list-revoked.ts";
import { findMembership, hasMembership } from "./store/memberships.ts";
import { sessionLasts } from "./store/sessions.ts";

/** Answers what other services ask over the bus. */
export function answerRequests(deps: Deps): void {
  deps.bus.reply(signingKeys, async () => ({ keys: [...(await deps.keys.present()).publicKeys] }));
  deps.bus.reply(revokedSessions, (asked) => listRevoked(deps, asked));
  deps.bus.reply(memberships, ({ after }) => listAllMemberships(deps, after));
  deps.bus.reply(namedMemberships, ({ named }) => listNamedMemberships(deps, named));
  deps.bus.reply(folderHolders, (asked) => listReaders(deps, asked));
  deps.bus.reply(folderNewsSince, (asked) => listFolderNewsSince(deps, asked));
  deps.bus.reply(planChanged, (report) => keepPlan(deps, report));
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
