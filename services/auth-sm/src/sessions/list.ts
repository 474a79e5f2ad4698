import type { Call } from "@coffer/http";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listSessions } from "../store/accounts/sessions.ts";
import { type SessionItem, sessionItem } from "./view.ts";

/** GET /api/auth/sessions */
export async function listOwnSessions(deps: Deps, { caller }: Call<User>): Promise<{ data: SessionItem[] }> {
  const sessions = await listSessions(deps.database.pool, caller.userId, deps.now());
  return { data: sessions.map((row) => sessionItem(row, caller.sessionId)) };
}
