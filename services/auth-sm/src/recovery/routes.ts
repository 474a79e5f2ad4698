import { anyone, route } from "@coffer/http";
import { recoveryFinish, recoveryStart } from "./bodies.ts";
import { finishRecovery } from "./finish.ts";
import { startRecovery } from "./start.ts";

const path = "/api/auth/recovery";
const post = { method: "POST", caller: anyone, status: 200 } as const;

/** A new password by the recovery key. Failures are recorded by the operations. */
export const recoveryRoutes = [
  route({ ...post, path: `${path}/start`, bucket: "strict", body: recoveryStart, run: startRecovery }),
  route({ ...post, path: `${path}/finish`, bucket: "user", body: recoveryFinish, run: finishRecovery }),
];
