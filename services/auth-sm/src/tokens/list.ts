import type { Call } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type AccessTokenRow, listAccessTokens } from "../store/access-tokens.ts";

/** GET /api/org/applications/{id}/tokens */
export async function listTokens(
  deps: Deps,
  { caller, params }: Call<User, ApplicationPath>,
): Promise<{ data: readonly AccessTokenRow[] }> {
  const { pool } = deps.database;
  const reached = await requireApplication(pool, caller, params.id, observers);
  return { data: await listAccessTokens(pool, reached.application.id, deps.now()) };
}
