import type { Call, NotModified, Tagged } from "@coffer/http";
import { decodeCursor, encodeCursor, notModified, tagged, timestampText, uuidText } from "@coffer/http";
import type { User } from "@coffer/service";
import { auditOf, userActor } from "@coffer/service";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { findMembership } from "../store/memberships.ts";
import type { VaultKey, VaultRow } from "../store/vaults.ts";
import { listVaults } from "../store/vaults.ts";
import type { VaultListQuery } from "./bodies.ts";
import { tagOf } from "./tag.ts";
import { vaultView } from "./view.ts";

const place = z.object({ created_at: timestampText, id: uuidText });

/** GET /api/vaults: all that the caller sees, in whichever organization. */
export async function listOwnVaults(
  deps: Deps,
  call: Call<User, unknown, undefined, VaultListQuery>,
): Promise<Tagged | NotModified> {
  const { caller, held, query } = call;
  const { limit, cursor } = query;
  const after: VaultKey | undefined = cursor === undefined ? undefined : decodeCursor(cursor, place);
  const found = await listVaults(deps.database.pool, caller.userId, {
    after,
    limit: limit === undefined ? undefined : limit + 1,
  });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next =
    found.length > rows.length && last !== undefined
      ? encodeCursor({ created_at: last.created_at, id: last.id })
      : null;
  const data = rows.map(vaultView);
  const answer = limit === undefined ? { data } : { data, next_cursor: next };
  const tag = tagOf(answer);
  if (held.includes(tag)) return notModified(tag);
  await recordList(deps, call, rows);
  return tagged(tag, answer);
}

/** In the chain of each organization whose vaults the answer has; of none, in that of the one in which the caller acts. */
async function recordList(
  deps: Deps,
  { caller, request }: Pick<Call<User>, "caller" | "request">,
  rows: readonly VaultRow[],
): Promise<void> {
  const counts = new Map<string | null, number>();
  for (const { org_id } of rows) counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
  if (counts.size === 0) {
    const membership = await findMembership(deps.database.pool, caller.userId, caller.orgId);
    counts.set(membership?.status === "active" ? membership.org_id : null, 0);
  }
  await Promise.all(
    Array.from(counts, ([orgId, count]) =>
      deps.audit(
        auditOf(deps, request, {
          org_id: orgId,
          action: "vault.listed",
          actor: userActor(caller),
          target: { type: "org", id: orgId },
          status: 200,
          count,
        }),
      ),
    ),
  );
}
