import type { Call, Streamed } from "@coffer/http";
import { observers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { answerList, type PageQuery } from "../lists/answer-list.ts";
import { listApplications } from "../store/machines/applications.ts";
import { nameCursor, nameKeyOf, namePosition } from "../store/list-parts.ts";

/** GET /api/org/applications */
export function listOrgApplications(
  { database: { pool } }: Deps,
  call: Call<User, unknown, undefined, PageQuery>,
): Promise<object | Streamed> {
  return answerList(call, {
    position: namePosition,
    keyOf: nameKeyOf,
    cursorOf: nameCursor,
    view: ({ name_folded: _, ...application }) => application,
    read: async (caller, wanted) => {
      const { orgId } = await requireMembership(pool, caller, observers);
      return { orgId, ...(await listApplications(pool, { orgId, ...wanted })) };
    },
  });
}
