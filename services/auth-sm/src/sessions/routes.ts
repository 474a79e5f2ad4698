import { anyone, route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { type Attempt, attempting } from "../refusals.ts";
import { listOwnSessions } from "./list.ts";
import { logOut } from "./logout.ts";
import { refreshBody, refreshSession } from "./refresh.ts";
import { othersQuery, revokeOtherSessions, revokeOwnSession, sessionPath } from "./revoke-own.ts";

const base = "/api/auth/sessions";
const user = { bucket: "user", caller: authenticateUser } as const;
const session: Attempt["target"] = ({ id = null }) => ({ type: "session", id });

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
  attempting(
    "session.revoked",
    session,
    route({ ...user, method: "DELETE", path: base, query: othersQuery, status: 204, run: revokeOtherSessions }),
  ),
  attempting(
    "session.revoked",
    session,
    route({
      ...user,
      method: "DELETE",
      path: `${base}/:id`,
      params: sessionPath,
      status: 204,
      run: revokeOwnSession,
    }),
  ),
];
