import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { NewEntry, User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireLockedVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import { findHistory } from "../store/histories.ts";
import { listPermissions } from "../store/vaults/vault-members.ts";
import { touchVaults, vaultState } from "../store/vaults/vaults.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { inOrg } from "../vaults/in-org.ts";
import { appendEntry } from "./append-entry.ts";

/** Number and hash of the stored entry. */
export interface StoredEntry {
  history_seq: number;
  hash: string;
}

/** POST /api/vaults/{id}/history: the first entry, for a shared vault without a history. */
export function adoptVault(deps: Deps, { caller, params, body, audit }: AuditedCall<User, VaultPath, NewEntry>) {
  return transactionInSession(deps, caller, async (tx): Promise<StoredEntry> => {
    const { id, orgId, actor, type, keyVersion } = await requireLockedVault(tx, caller, params.id, "manage");
    if (type === "personal" || orgId === null)
      throw new ServiceError("invalid_request", "a personal vault has no history: only its owner uses its key");
    if ((await findHistory(tx, id)) !== null)
      throw new ServiceError(
        "conflict",
        "the vault already has a history: send further entries with the changes that they sign",
      );
    const { name } = await vaultState(tx, id);
    const setAmong = (await listPermissions(tx, id)).map(({ user_id, permission }) => ({
      who: `user:${user_id}` as const,
      perm: permission,
    }));
    const state = await appendEntry(tx, {
      caller,
      vaultId: id,
      entry: body.entry,
      founds: true,
      expected: () => ({ org: orgId, name, ver: keyVersion, setAmong }),
    });
    if (state === null) throw new TypeError("an entry was appended, but there is no state");
    await notifyViewers(tx, deps, await touchVaults(tx, [id], deps.now()), []);
    await enqueueAudit(tx, audit({ orgId, actor, target: inOrg(orgId) }));
    return { history_seq: state.head.seq, hash: state.head.hash };
  });
}
