import { route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { memberChange, memberPath, memberRemoval, memberSessionPath } from "./bodies.ts";
import { listMemberSessions } from "./list-sessions.ts";
import { listOrgMembers } from "./list.ts";
import { removeMember } from "./remove.ts";
import { revokeMemberSession, revokeMemberSessions } from "./revoke-sessions.ts";
import { updateMember } from "./update.ts";

const base = "/api/org/members";
const one = `${base}/:user_id`;
const user = { bucket: "user", caller: authenticateUser } as const;
const member: RouteAudit["target"] = ({ user_id = null }) => ({ type: "user", id: user_id });
const session: RouteAudit["target"] = ({ user_id = "", sid = null }) => ({
  type: "session",
  id: sid,
  parent_id: user_id,
});

export const memberRoutes = [
  route({ ...user, method: "GET", path: base, status: 200, run: listOrgMembers }),
  route({
    ...user,
    method: "PATCH",
    path: one,
    params: memberPath,
    body: memberChange,
    status: 200,
    audit: { action: "org.member.role.changed", target: member },
    run: updateMember,
  }),
  route({
    ...user,
    method: "DELETE",
    path: one,
    params: memberPath,
    query: memberRemoval,
    status: 204,
    audit: { action: "org.member.removed", target: member },
    run: removeMember,
  }),
  route({
    ...user,
    method: "GET",
    path: `${one}/sessions`,
    params: memberPath,
    status: 200,
    run: listMemberSessions,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${one}/sessions`,
    params: memberPath,
    status: 204,
    audit: { action: "session.revoked", target: session },
    run: revokeMemberSessions,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${one}/sessions/:sid`,
    params: memberSessionPath,
    status: 204,
    audit: { action: "session.revoked", target: session },
    run: revokeMemberSession,
  }),
];
