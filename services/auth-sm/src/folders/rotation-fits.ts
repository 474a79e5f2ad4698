import { ServiceError } from "@coffer/errors";
import { type HistoryState, holderOf } from "@coffer/history";
import { folderHolder } from "../histories/resources.ts";
import type { HolderRow } from "../store/folders/folders.ts";
import type { Rotation } from "./rotation-body.ts";
import type { ResealedSecret, SealedSecret } from "../store/folders/folder-rotation.ts";

/**
 * Refuses keys that are not for exactly the current members or machines.
 * @throws ServiceError `conflict`
 */
export function requireHolders(what: string, present: readonly string[], sent: readonly string[]): void {
  const { missing, unknown } = difference(present, sent);
  if (missing === 0 && unknown === 0) return;
  throw changed(`of the ${what} who hold the folder, ${missing} are missing, and ${unknown} are none`);
}

/**
 * Refuses secrets other than exactly the current ones, in their current versions and with
 * everything that the folder's key encrypts.
 * @throws ServiceError like `requireUnchanged`
 */
export function requireSecrets(present: readonly SealedSecret[], sent: readonly ResealedSecret[]): void {
  const { missing, unknown } = difference(
    present.map(({ uid }) => uid),
    sent.map(({ uid }) => uid),
  );
  if (missing > 0 || unknown > 0) {
    throw changed(`of the folder's secrets ${missing} are missing, and ${unknown} are not there`);
  }
  requireUnchanged(present, sent);
}

/**
 * Refuses secrets that are not there in this version and with everything that the folder's key
 * encrypts: a value left out could never be decrypted again.
 * @throws ServiceError `conflict`; `invalid_request` for a secret with a missing or extra title or
 * field
 */
export function requireUnchanged(present: readonly SealedSecret[], sent: readonly ResealedSecret[]): void {
  const byUid = new Map(present.map((secret) => [secret.uid, secret]));
  const stale = sent.filter(({ uid, version }) => byUid.get(uid)?.version !== version).length;
  if (stale > 0) throw changed(`${stale} secrets have another version, or are not there`);
  const index = sent.findIndex((secret) => !isWhole(byUid.get(secret.uid), secret));
  if (index === -1) return;
  throw new ServiceError("invalid_request", "a secret must be sent with the title and the fields that it has sealed", {
    details: [{ field: `secrets.${index}`, issue: "must have title_encrypted and fields exactly as the secret has" }],
  });
}

/**
 * Refuses a key for a member or machine that the history does not name with the current public key,
 * and a missing key where no history forbids it.
 * @throws ServiceError `invalid_request`
 */
export function requireSealable(
  history: HistoryState | null,
  holders: readonly HolderRow[],
  { encrypted_keys: { users, clients } }: Rotation,
): void {
  const sealed = new Map([
    ...users.map(({ user_id, encrypted_key }) => [`user:${user_id}`, encrypted_key] as const),
    ...clients.map(({ client_id, encrypted_key }) => [`client:${client_id}`, encrypted_key] as const),
  ]);
  for (const holder of holders.map(folderHolder)) {
    const hasKey = sealed.get(holder.who) !== null;
    if (history === null && !hasKey) throw unsealable(`${holder.who} needs the next key: the folder has no history`);
    const isNamed = history !== null && holderOf(history, holder.who)?.key === holder.key;
    if (history !== null && hasKey && !isNamed)
      throw unsealable(`the history does not name ${holder.who} with this public key: the key must be null`);
  }
}

function unsealable(issue: string): ServiceError {
  return new ServiceError("invalid_request", issue, { details: [{ field: "encrypted_keys", issue }] });
}

function isWhole(present: SealedSecret | undefined, { title_encrypted, fields = {} }: ResealedSecret): boolean {
  if (present === undefined || present.titled !== (title_encrypted !== undefined)) return false;
  const names = Object.keys(fields);
  return (
    names.length === present.field_names.length && present.field_names.every((name) => Object.hasOwn(fields, name))
  );
}

function difference(present: readonly string[], sent: readonly string[]): { missing: number; unknown: number } {
  const [here, there] = [new Set(present), new Set(sent)];
  return {
    missing: present.filter((id) => !there.has(id)).length,
    unknown: sent.filter((id) => !here.has(id)).length,
  };
}

export function changed(how: string): ServiceError {
  return new ServiceError("conflict", `the folder has changed since its new key was prepared: ${how}; read it again`);
}
