import { route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { oneself } from "../refusals.ts";
import { passwordChange, passwordStart } from "./bodies.ts";
import { changePassword } from "./change.ts";
import { startPasswordChange } from "./start.ts";

const path = "/api/auth/password";
const user = { method: "POST", bucket: "user", caller: authenticateUser, status: 200 } as const;

/** Changing a known password. */
export const passwordRoutes = [
  route({ ...user, path: `${path}/start`, body: passwordStart, run: startPasswordChange }),
  route({
    ...user,
    path,
    body: passwordChange,
    audit: { action: "user.password.changed", target: oneself },
    run: changePassword,
  }),
];
