import type { Call } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type ClientRow, listApplicationClients } from "../store/application-clients.ts";

/** GET /api/org/applications/{id}/clients */
export async function listClients(
  deps: Deps,
  { caller, params }: Call<User, ApplicationPath>,
): Promise<{ data: readonly ClientRow[] }> {
  const { pool } = deps.database;
  const reached = await requireApplication(pool, caller, params.id, observers);
  return { data: await listApplicationClients(pool, reached.application.id, deps.now()) };
}
