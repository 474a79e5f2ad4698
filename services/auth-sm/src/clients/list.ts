import { answerParts, type Call, decodeCursor, type Part, type Streamed } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath, ListQuery } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type ClientRow, listApplicationClients } from "../store/application-clients.ts";
import { timeCursor, type TimeKey, timePosition, type Wanted } from "../store/list-parts.ts";

const keyOf = ({ created_at, client_id }: ClientRow): TimeKey => ({ created_at, id: client_id });

/** GET /api/org/applications/{id}/clients: a long list is sent in parts (docs/adr/0011). */
export async function listClients(
  deps: Deps,
  { caller, params, query: { limit, cursor } }: Call<User, ApplicationPath, undefined, ListQuery>,
): Promise<object | Streamed> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, timePosition);
  const { orgId, ...first } = await readPart(deps, caller, params.id, { after, limit });
  return answerParts(first, {
    view: (client) => client,
    cursor: (client) => timeCursor(keyOf(client)),
    next: (last, left) => readPart(deps, { ...caller, orgId }, params.id, { after: keyOf(last), limit: left }),
    limit,
  });
}

async function readPart(
  { database: { pool }, now }: Deps,
  caller: User,
  id: string,
  wanted: Wanted<TimeKey>,
): Promise<Part<ClientRow> & { orgId: string }> {
  const { orgId, application } = await requireApplication(pool, caller, id, observers);
  const part = await listApplicationClients(pool, { applicationId: application.id, now: now(), ...wanted });
  return { orgId, ...part };
}
