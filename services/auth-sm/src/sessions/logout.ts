import type { Call } from "@coffer/http";
import { userActor } from "@coffer/service";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { revokeSession } from "./revoke.ts";

/** POST /api/auth/logout */
export async function logOut(deps: Deps, { caller, request }: Call<User>): Promise<void> {
  const revocation = await deps.database.transaction((tx) =>
    revokeSession(tx, deps, {
      session: { id: caller.sessionId, userId: caller.userId },
      reason: "logged_out",
      actor: userActor(caller),
      request,
      status: 204,
    }),
  );
  if (revocation !== null) await deps.announcer.announce([revocation]);
}
