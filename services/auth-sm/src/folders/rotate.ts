import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { requireLockedFolder } from "../access/folder.ts";
import { requireKeyVersion } from "./key-version.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { folderRes } from "../histories/resources.ts";
import {
  dropTokenKeys,
  type HolderKey,
  listGrantees,
  listSealedSecrets,
  replaceClientKeys,
  replaceMemberKeys,
  resealSecrets,
  setKeyVersion,
} from "../store/folders/folder-rotation.ts";
import { dropStagedSecrets, resealFromStaged } from "../store/secrets/staged-secrets.ts";
import {
  countFolderSecrets,
  type FolderRow,
  getFolder,
  type HolderRow,
  listHolders,
} from "../store/folders/folders.ts";
import type { FolderPath } from "./bodies.ts";
import type { Rotation } from "./rotation-body.ts";
import { changed, requireHolders, requireSealable, requireSecrets } from "./rotation-fits.ts";
import { publishFolderChange } from "./publish-change.ts";

type RotationCall = AuditedCall<User, FolderPath, Rotation>;

/**
 * POST /api/org/folders/{id}/rotate
 * Replaces the folder's key for exactly its current members, machines and secrets, or changes
 * nothing. Writers of secrets wait until it is done and then retry.
 */
export function rotateFolder(deps: Deps, call: RotationCall): Promise<FolderRow> {
  const { caller, params, body, audit } = call;
  const keys = sealedKeys(call);
  return transactionInSession(deps, caller, async (tx) => {
    const folder = await requireLockedFolder(tx, caller, params.id, { needed: "manage", lock: "whole" });
    const { orgId, actor, folderId } = folder;
    requireKeyVersion(body.key_version, folder.keyVersion);
    const holders = await listHolders(tx, folderId, deps.now());
    requireFittingHolders(holders, body);
    const next = { folderId, keyVersion: folder.keyVersion + 1, now: deps.now() };
    const count = await reseal(tx, caller, next, body);
    const grantees = await listGrantees(tx, folderId, deps.now());
    const history = await appendEntry(tx, {
      res: folderRes(folderId),
      orgId,
      entry: body.entry,
      by: `user:${caller.userId}`,
      expected: () => ({ ver: next.keyVersion, mayDrop: (who) => !grantees.includes(who) }),
    });
    requireSealable(history, holders, body);
    const counts = [
      (await replaceMemberKeys(tx, folderId, keys.users)) - keys.users.length,
      (await replaceClientKeys(tx, folderId, keys.clients)) - keys.clients.length,
    ];
    // A member who is removed at this moment is no longer in the rows.
    if (counts.some((difference) => difference !== 0)) throw new ServiceError("conflict", "the holders have changed");
    await dropTokenKeys(tx, folderId);
    await setKeyVersion(tx, next);
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { parent_id: orgId },
        changes: { key_version: next.keyVersion, users: keys.users.length, clients: keys.clients.length },
        count,
      }),
    );
    const rotated = await getFolder(tx, folderId, caller.userId);
    await publishFolderChange(tx, deps, { folderIds: [folderId], change: "key", updatedAt: rotated.updated_at });
    return rotated;
  });
}

/**
 * The keys by their form of encryption. Only the caller's own key may be under a user key: others
 * could not open it.
 */
function sealedKeys({ caller, body }: RotationCall): { users: HolderKey[]; clients: HolderKey[] } {
  const users = body.encrypted_keys.users.map(({ user_id: id, encrypted_key: encryptedKey }, index): HolderKey => {
    if (encryptedKey === null) return { id, encryptedKey, alg: null };
    const alg = encryptedKey.includes(".") ? "jwe" : "box-user";
    if (alg === "jwe" || id === caller.userId) return { id, encryptedKey, alg };
    const field = `encrypted_keys.users.${index}.encrypted_key`;
    throw new ServiceError("invalid_request", `${field} must be sealed to the person's public key`, {
      details: [{ field, issue: "not a compact JWE" }],
    });
  });
  const clients = body.encrypted_keys.clients.map(({ client_id: id, encrypted_key: encryptedKey }): HolderKey =>
    encryptedKey === null ? { id, encryptedKey, alg: null } : { id, encryptedKey, alg: "jwe" },
  );
  return { users, clients };
}

/** Refuses keys that were prepared for other holders than the current ones. */
function requireFittingHolders(holders: readonly HolderRow[], { encrypted_keys: { users, clients } }: Rotation): void {
  const idsOf = (wanted: "user" | "client") => holders.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  requireHolders(
    "people",
    idsOf("user"),
    users.map(({ user_id }) => user_id),
  );
  requireHolders(
    "machines",
    idsOf("client"),
    clients.map(({ client_id }) => client_id),
  );
}

/**
 * Replaces the encrypted values of all secrets by those of the body, or by those that the caller
 * has staged. Returns how many there are.
 * @throws ServiceError `conflict` when they are not exactly the current ones
 */
async function reseal(
  tx: Transaction,
  { userId }: User,
  next: { folderId: string; keyVersion: number; now: Date },
  { secrets, rotation_id: rotationId }: Rotation,
): Promise<number> {
  const { folderId } = next;
  const count = await countFolderSecrets(tx, folderId);
  if (rotationId === undefined) {
    requireSecrets(await listSealedSecrets(tx, folderId), secrets ?? []);
    await resealSecrets(tx, next, secrets ?? []);
  } else {
    const resealed = await resealFromStaged(tx, next, { userId, rotationId });
    if (resealed !== count) throw changed(`${count - resealed} secrets are not staged in their current version`);
  }
  await dropStagedSecrets(tx, folderId);
  return count;
}
