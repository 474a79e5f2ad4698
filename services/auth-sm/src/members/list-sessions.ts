import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { managers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type SessionItem, sessionItem } from "../sessions/view.ts";
import { findMember } from "../store/organizations/members.ts";
import { listSessions } from "../store/accounts/sessions.ts";
import type { MemberPath } from "./bodies.ts";

/** GET /api/org/members/{user_id}/sessions */
export async function listMemberSessions(
  deps: Deps,
  { caller, params }: Call<User, MemberPath>,
): Promise<{ data: SessionItem[] }> {
  const { pool } = deps.database;
  const { orgId } = await requireMembership(pool, caller, managers);
  const member = await findMember(pool, orgId, params.user_id);
  if (member === null) throw new ServiceError("not_found", "member not found");
  const sessions = await listSessions(pool, member.user_id, deps.now());
  return { data: sessions.map((row) => sessionItem(row, caller.sessionId)) };
}
