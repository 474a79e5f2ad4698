import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import type { User } from "@coffer/service";
import { asJudged, auditOf, userActor } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { findSeenVault } from "../store/vaults.ts";
import type { VaultPath } from "./bodies.ts";
import { tagOf } from "./tag.ts";
import { vaultView } from "./view.ts";

/** GET /api/vaults/{id} */
export async function showVault(
  deps: Deps,
  { caller, params, held, request }: Call<User, VaultPath>,
): Promise<Tagged | NotModified> {
  const { pool } = deps.database;
  const row = await asJudged(async () => {
    const seen = await findSeenVault(pool, params.id, caller.userId);
    if (seen === null) await requireVault(pool, caller, params.id, "read");
    return seen;
  }, "who sees this vault keeps changing; try again");
  const answer = vaultView(row);
  const tag = tagOf(answer);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: row.org_id,
      action: "vault.listed",
      actor: userActor(caller),
      target: { type: "vault", id: row.id },
      status: 200,
      count: 1,
    }),
  );
  return tagged(tag, answer);
}
