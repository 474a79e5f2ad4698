import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { type Attempt, attempting } from "../refusals.ts";
import { memberChange, memberPath, memberRemoval, memberSessionPath } from "./bodies.ts";
import { listMemberSessions } from "./list-sessions.ts";
import { listOrgMembers } from "./list.ts";
import { removeMember } from "./remove.ts";
import { revokeMemberSession, revokeMemberSessions } from "./revoke-sessions.ts";
import { updateMember } from "./update.ts";

const base = "/api/org/members";
const one = `${base}/:user_id`;
const user = { bucket: "user", caller: authenticateUser } as const;
const member: Attempt["target"] = ({ user_id = null }) => ({ type: "user", id: user_id });
const session: Attempt["target"] = ({ user_id = "", sid = null }) => ({ type: "session", id: sid, parent_id: user_id });

export const memberRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listOrgMembers }),
  attempting(
    "org.member.role.changed",
    member,
    route({
      ...user,
      method: "PATCH",
      path: one,
      params: memberPath,
      body: memberChange,
      status: 200,
      run: updateMember,
    }),
  ),
  attempting(
    "org.member.removed",
    member,
    route({
      ...user,
      method: "DELETE",
      path: one,
      params: memberPath,
      query: memberRemoval,
      status: 204,
      run: removeMember,
    }),
  ),
  route({
    ...user,
    method: "GET",
    path: `${one}/sessions`,
    params: memberPath,
    status: 200,
    run: listMemberSessions,
  }),
  attempting(
    "session.revoked",
    session,
    route({
      ...user,
      method: "DELETE",
      path: `${one}/sessions`,
      params: memberPath,
      status: 204,
      run: revokeMemberSessions,
    }),
  ),
  attempting(
    "session.revoked",
    session,
    route({
      ...user,
      method: "DELETE",
      path: `${one}/sessions/:sid`,
      params: memberSessionPath,
      status: 204,
      run: revokeMemberSession,
    }),
  ),
];
