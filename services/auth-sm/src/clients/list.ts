import type { Call, Streamed } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { answerList, type PageQuery } from "../lists/answer-list.ts";
import { type ClientRow, listApplicationClients } from "../store/machines/application-clients.ts";
import { timeCursor, type TimeKey, timePosition } from "../store/list-parts.ts";

const keyOf = ({ created_at, client_id }: ClientRow): TimeKey => ({ created_at, id: client_id });

/** GET /api/org/applications/{id}/clients */
export function listClients(
  { database: { pool }, now }: Deps,
  call: Call<User, ApplicationPath, undefined, PageQuery>,
): Promise<object | Streamed> {
  return answerList(call, {
    position: timePosition,
    keyOf,
    cursorOf: (row) => timeCursor(keyOf(row)),
    view: (row) => row,
    read: async (caller, wanted) => {
      const { orgId, application } = await requireApplication(pool, caller, call.params.id, observers);
      return {
        orgId,
        ...(await listApplicationClients(pool, { applicationId: application.id, now: now(), ...wanted })),
      };
    },
  });
}
