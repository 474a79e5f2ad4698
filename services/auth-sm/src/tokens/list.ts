import type { Call, Streamed } from "@coffer/http";
import { requireApplication } from "../access/application.ts";
import { observers } from "../access/membership.ts";
import type { ApplicationPath } from "../applications/bodies.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { answerList, type PageQuery } from "../lists/answer-list.ts";
import { listAccessTokens } from "../store/machines/access-tokens.ts";
import { timeCursor, timePosition } from "../store/list-parts.ts";

/** GET /api/org/applications/{id}/tokens */
export function listTokens(
  { database: { pool }, now }: Deps,
  call: Call<User, ApplicationPath, undefined, PageQuery>,
): Promise<object | Streamed> {
  return answerList(call, {
    position: timePosition,
    keyOf: (token) => token,
    cursorOf: timeCursor,
    view: (token) => token,
    read: async (caller, wanted) => {
      const { orgId, application } = await requireApplication(pool, caller, call.params.id, observers);
      return { orgId, ...(await listAccessTokens(pool, { applicationId: application.id, now: now(), ...wanted })) };
    },
  });
}
