import { ServiceError } from "@coffer/errors";
import { heldVaultHeads } from "@coffer/events";
import { cutName, type HistoryState, holderOf, type Resource } from "@coffer/history";
import type { Call } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { managers, requireMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { MemberPath } from "../members/bodies.ts";
import { findHistory, listHeldFolders } from "../store/histories.ts";
import { findMember } from "../store/organizations/members.ts";
import { orgRes } from "./resources.ts";

/** The newest entry of each history, by its name in a `cut`. */
export interface Heads {
  data: Record<string, [seq: number, hash: string]>;
}

/**
 * GET /api/org/members/{user_id}/heads
 * The folders and vaults whose history names this person as a member or signer, also after the
 * person was removed. Names are hashed, so that no vault is disclosed.
 * @throws ServiceError `unavailable` while vaults does not answer: a cut without the vaults would
 * not apply to them
 */
export async function showHeads(deps: Deps, { caller, params }: Call<User, MemberPath>): Promise<Heads> {
  const { pool } = deps.database;
  const { orgId } = await requireMembership(pool, caller, managers);
  const { user_id: userId } = params;
  const history = await findHistory(pool, orgRes(orgId));
  await requireKnown(pool, history, { orgId, userId });
  // Without a history of the organization, nothing in it has one.
  if (history === null) return { data: {} };
  const folders = await listHeldFolders(pool, orgId, userId);
  const named = folders.map(async ({ res, seq, hash }): Promise<[string, [number, string]]> => {
    // `storeEntry` writes no other form.
    return [await cutName(res as Resource), [seq, hash]];
  });
  const { heads } = await deps.bus.request(heldVaultHeads, { org_id: orgId, user_id: userId });
  return { data: { ...heads, ...Object.fromEntries(await Promise.all(named)) } };
}

/**
 * @throws ServiceError `not_found` for a person who is neither a member nor in the organization's
 * history
 */
async function requireKnown(
  db: Queryable,
  history: HistoryState | null,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<void> {
  if ((await findMember(db, orgId, userId)) !== null) return;
  const who = `user:${userId}`;
  if (history !== null && holderOf(history, who) !== undefined) return;
  if (history?.former.some((former) => former.who === who) === true) return;
  throw new ServiceError("not_found", "member not found");
}
