import type { Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import { soleManagedVaults, vaultViewers } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { managers } from "../access/membership.ts";
import type { Deps } from "../deps.ts";
import { orgRes } from "../histories/resources.ts";
import { hasHistory, listSoleManagedFolders } from "../store/histories.ts";

/** The member to remove, and the caller who sees the refusal. */
export interface Removal {
  orgId: string;
  userId: string;
  viewerId: string;
  viewerRole: Role;
}

/** Resources that only this member manages: names that the viewer may see, and a count of the others. */
export interface SoleManaged {
  names: string[];
  others: number;
}

/** Further names are only counted. */
const mostNames = 20;

/**
 * The shared vaults with a history that only this member manages. Names are limited to vaults that
 * the viewer can see now: travel mode may hide some.
 * @throws ServiceError `unavailable` while vaults does not answer
 */
export async function soleManagedVaultsOf(deps: Deps, removal: Removal): Promise<SoleManaged> {
  const { orgId, userId, viewerId } = removal;
  // Without a history of the organization, nothing in it has one.
  if (!(await hasHistory(deps.database.pool, orgRes(orgId)))) return { names: [], others: 0 };
  try {
    const { vaults } = await deps.bus.request(soleManagedVaults, { org_id: orgId, user_id: userId });
    const names: string[] = [];
    for (const { id, name } of vaults.slice(0, mostNames)) if (await isViewer(deps, id, viewerId)) names.push(name);
    return { names, others: vaults.length - names.length };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "unavailable") throw error;
    const message =
      "cannot check now whether only this member manages a shared vault: try again, or use force=true, which skips the check";
    throw new ServiceError("unavailable", message, { cause: error });
  }
}

async function isViewer({ bus }: Deps, vaultId: string, userId: string): Promise<boolean> {
  let after: string | null = null;
  do {
    const page: { user_ids: string[]; after: string | null } = await bus.request(vaultViewers, {
      vault_id: vaultId,
      after,
    });
    if (page.user_ids.includes(userId)) return true;
    ({ after } = page);
  } while (after !== null);
  return false;
}

/**
 * Refuses to remove the only manager of a folder or shared vault with a history: no further entry
 * could be signed.
 * @param vaults the result of `soleManagedVaultsOf`
 * @throws ServiceError `conflict` with the names that the viewer may see
 */
export async function requireOtherManagers(db: Queryable, removal: Removal, vaults: SoleManaged): Promise<void> {
  const { viewerRole } = removal;
  const found = await listSoleManagedFolders(db, removal);
  const visible = found.filter(({ granted }) => granted || managers.includes(viewerRole)).slice(0, mostNames);
  const folders = { names: visible.map(({ name }) => name), others: found.length - visible.length };
  const parts = [listed("folder", folders), listed("shared vault", vaults)].filter((part) => part !== "");
  if (parts.length === 0) return;
  throw new ServiceError(
    "conflict",
    `only this member manages ${parts.join(" and ")}: let another member manage them first, or use force=true, which ` +
      "leaves them without a manager",
  );
}

function listed(what: string, { names, others }: SoleManaged): string {
  if (names.length + others === 0) return "";
  const named = names.map((name) => JSON.stringify(name));
  const counted = others === 0 ? [] : [`${others}${names.length > 0 ? " more" : ""}`];
  const plural = names.length + others === 1 ? "" : "s";
  if (names.length === 0) return `${others} ${what}${plural}`;
  return `the ${what}${plural} ${[...named, ...counted].join(", ")}`;
}
