import { uuidText } from "@coffer/http";
import { ServiceError } from "@coffer/errors";
import type { vaultViewers } from "@coffer/events";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { listViewers } from "../store/sync/visibility.ts";

/** The most ids that fit a bus message. */
const maxPeople = 10_000;

/**
 * A page of the people who see a vault: the reply to `vaultViewers`.
 * @throws ServiceError `invalid_request` for a malformed `after`
 */
export async function showViewers(
  { database }: Pick<Deps, "database">,
  { vault_id: vaultId, after: cursor }: z.infer<typeof vaultViewers.input>,
): Promise<z.infer<typeof vaultViewers.output>> {
  const after = cursor === null ? null : uuidText.safeParse(cursor).data;
  if (after === undefined) throw new ServiceError("invalid_request", "`after` is not a cursor of this list");
  const found = await listViewers(database.pool, { vaultId, after, limit: maxPeople + 1 });
  const user_ids = found.slice(0, maxPeople);
  return { user_ids, after: found.length > user_ids.length ? (user_ids.at(-1) ?? null) : null };
}
