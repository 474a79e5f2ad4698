import type { AuditedCall } from "@coffer/http";
import { retryOnConflict, type User, userActor } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { busy } from "../errors.ts";
import type { RecordWrite } from "../store/records/record-writes.ts";
import { requireKeyVersion } from "../vaults/key-version.ts";
import type { VaultPath } from "../vaults/bodies.ts";

/** The record, the version of the key that sealed it if the client sent it, and its type for the audit. */
interface Written {
  id: string;
  key_version?: number | undefined;
  type?: string;
}

/**
 * Writes a record of the vault that the path names, again after a conflict.
 * @param write returns null when nothing was written: the caller may not write, or there was a conflict
 * @throws ServiceError `invalid_token` when the session has ended, what `requireVault` throws, `conflict`
 * for another version of the key, `unavailable` after 5 s of conflicts
 */
export function writeRecord<Result>(
  deps: Deps,
  { caller, params, audit }: AuditedCall<User, VaultPath>,
  { id, key_version, type }: Written,
  write: (to: RecordWrite) => Promise<Result | null>,
): Promise<Result> {
  const vaultId = params.id;
  const by = { orgId: null, actor: userActor(caller), target: { id }, ...(type && { changes: { type } }) };
  return retryOnConflict(async () => {
    // In each attempt: the one before may have waited for a lock.
    const { userId } = deps.users.requireActiveSession(caller);
    const result = await write({ userId, vaultId, id, eventId: deps.newId(), audit: audit(by), now: deps.now() });
    if (result === null) {
      const { keyVersion } = await requireVault(deps.database.pool, caller, vaultId, "write");
      requireKeyVersion(key_version, keyVersion);
    }
    return result;
  }, busy);
}
