import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { CofferErrorCode } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import type { Permission } from "../views.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultView } from "./views.ts";

/** A vault as its members see it. Its name is not sealed: the service can read it. */
export interface Vault {
  id: string;
  /** The organization in which it was made; null for a person without one. */
  org_id: string | null;
  /** Of a shared vault the one that its history says. */
  name: string;
  /** `personal` or `shared`; others may come. */
  type: string;
  permission: Permission;
  /** Whether it stays in sight while the caller travels. */
  safe_for_travel: boolean;
  record_count: number;
  key_version: number;
  created_at: string;
  updated_at: string;
  /** Why its key cannot be used; null when it can. */
  problem: CofferErrorCode | null;
}

/** A vault with its key opened. */
export interface OpenVault {
  vault: Vault;
  /** As the service holds it. */
  view: VaultView;
  /** Null when it may not be used: then `keyError` says why. */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
  /** Of a shared vault whose history was verified: whether the caller has made or accepted it. */
  accepted?: boolean | undefined;
}

/** The vault's key. Throws CofferError when it may not be used. */
export function vaultKeyOf({ vault, key, keyError }: OpenVault): Uint8Array {
  if (key !== null) return key;
  throw keyError ?? new CofferError("no_key", `the key of the vault ${vault.name} was not sealed to you`);
}

/** A vault with the key of a version that its history names; asked for again when it is known with another. */
export async function vaultAt(store: VaultStore, id: string, version: number | null): Promise<OpenVault> {
  const open = await store.one(id);
  return open.vault.key_version === version && open.key !== null ? open : store.fresh(id);
}

/** A vault by the service's word. */
export function vaultOf(view: VaultView): Vault {
  const { id, org_id, name, type, permission, safe_for_travel, record_count, key_version, created_at } = view;
  const updated_at = view.updated_at ?? created_at;
  const shown = { id, org_id, name, type, permission, safe_for_travel, record_count, key_version };
  return { ...shown, created_at, updated_at, problem: null };
}

/** Opens the key of a personal vault, which only its owner can have sealed. Throws CofferError `not_decrypted`. */
export async function openOwnVaultKey(view: VaultView, { user_key }: PersonSession): Promise<Uint8Array> {
  try {
    return await unboxBound(decodeBase64(user_key), view.encrypted_key ?? "", contexts.ownVaultKey(view.id));
  } catch (cause) {
    const what = `the key of the personal vault ${view.name} was not sealed by you: it is not used`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}

/**
 * Opens the key of a shared vault, as its creator sealed it under the user key, or a manager to the public key; null when
 * it was not sealed to the caller. That it is the vault's key is not said by that: the history's check says it.
 * Throws CofferError `not_decrypted`.
 */
export async function openSharedVaultKey(view: VaultView, session: PersonSession): Promise<Uint8Array | null> {
  const { id, name, encrypted_key: sealed } = view;
  if (!sealed) return null;
  const userKey = decodeBase64(session.user_key);
  try {
    if (!sealed.includes(".")) return await unboxBound(userKey, sealed, contexts.vaultKey(id));
    const privateKey = await unboxBound(userKey, session.encrypted_private_key, contexts.privateKey());
    return await openSealed(privateKey, sealed, contexts.vaultKey(id));
  } catch (cause) {
    const what = `the key of the vault ${name} cannot be opened: it was sealed for somebody else, or altered`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}
