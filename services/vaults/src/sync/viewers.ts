import { uuidText } from "@coffer/http";
import { ServiceError } from "@coffer/errors";
import type { vaultViewers } from "@coffer/events";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { listViewers } from "../store/sync-viewers.ts";

/** What fits an answer on the bus. */
const mostPeople = 10_000;

/**
 * Who sees a vault now, a page: the reply to `vaultViewers`.
 * @throws ServiceError `invalid_request` for an `after` that no page gave
 */
export async function showViewers(
  { database }: Pick<Deps, "database">,
  { vault_id: vaultId, after: asked }: z.infer<typeof vaultViewers.input>,
): Promise<z.infer<typeof vaultViewers.output>> {
  const after = asked === null ? null : uuidText.safeParse(asked).data;
  if (after === undefined) throw new ServiceError("invalid_request", "the place is not one that a page gave");
  const found = await listViewers(database.pool, { vaultId, after, limit: mostPeople + 1 });
  const user_ids = found.slice(0, mostPeople);
  return { user_ids, after: found.length > user_ids.length ? (user_ids.at(-1) ?? null) : null };
}
