import { anyone, route } from "@coffer/http";
import { authenticateUser } from "../callers/user.ts";
import { recoveryFinish, recoveryStart } from "./bodies.ts";
import { finishRecovery } from "./finish.ts";
import { showRecovery } from "./show.ts";
import { startRecovery } from "./start.ts";

const path = "/api/auth/recovery";
const post = { method: "POST", caller: anyone, status: 200 } as const;

/** Setting a new password with the recovery key. These operations record their failures. */
const recoveries = [
  route({ ...post, path: `${path}/start`, bucket: "strict", body: recoveryStart, run: startRecovery }),
  route({ ...post, path: `${path}/finish`, bucket: "user", body: recoveryFinish, run: finishRecovery }),
];

/** The caller's own sealed user key, for a backup. */
const show = route({
  method: "GET",
  path: "/api/account/recovery",
  bucket: "user",
  caller: authenticateUser,
  status: 200,
  run: showRecovery,
});

export const recoveryRoutes = [...recoveries, show];
