import { anyone, route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { logOut } from "./logout.ts";
import { refreshBody, refreshSession } from "./refresh.ts";

/** Sessions after their login. */
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
    method: "POST",
    path: "/api/auth/logout",
    bucket: "user",
    caller: authenticateUser,
    status: 204,
    run: logOut,
  }),
];
