import { anyone, route, type RouteAudit } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { listOwnSessions } from "./list.ts";
import { logOut } from "./logout.ts";
import { refreshBody, refreshSession } from "./refresh.ts";
import { othersQuery, revokeOtherSessions, revokeOwnSession, sessionPath } from "./revoke-own.ts";

const base = "/api/auth/sessions";
const user = { bucket: "user", caller: authenticateUser } as const;
const session: RouteAudit["target"] = ({ id = null }) => ({ type: "session", id });

export const sessionRoutes = [
  route({
    method: "POST",
    path: "/api/auth/refresh",
    bucket: "user",
    caller: anyone,
    body: refreshBody,
    status: 200,
    run: refreshSession,
  }),
  route({
    ...user,
    method: "POST",
    path: "/api/auth/logout",
    status: 204,
    run: logOut,
  }),
  route({ ...user, method: "GET", path: base, status: 200, run: listOwnSessions }),
  route({
    ...user,
    method: "DELETE",
    path: base,
    query: othersQuery,
    status: 204,
    audit: { action: "session.revoked", target: session },
    run: revokeOtherSessions,
  }),
  route({
    ...user,
    method: "DELETE",
    path: `${base}/:id`,
    params: sessionPath,
    status: 204,
    audit: { action: "session.revoked", target: session },
    run: revokeOwnSession,
  }),
];
