import type { Permission } from "@coffer/contract";
import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError, type CofferErrorCode } from "../errors.ts";
import type { Verified } from "../histories/histories.ts";
import type { PersonSession } from "../people/person-session.ts";
import { requireStillTrusted } from "../trust/trusted-key.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultView } from "./views.ts";

/** A vault as its members see it. Its name is not sealed, so the service can read it. */
export interface Vault {
  id: string;
  /** The organization in which it was created; null for a person without one. */
  org_id: string | null;
  /** For a shared vault the name from its history. */
  name: string;
  /** `personal` or `shared`; others may come. */
  type: string;
  permission: Permission;
  /** Whether it stays visible while the caller travels. */
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
  /** The unverified view of the service. */
  view: VaultView;
  /** Null when it may not be used; then `keyError` has the reason. */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
  /** For a shared vault with a verified history: whether the caller has made or accepted it. */
  accepted?: boolean | undefined;
  /** The history that says so. Later entries can end the use of the key. */
  verified?: Verified | undefined;
  /**
   * Whether the key may still be used. It is checked each time before that. Undefined for a
   * personal vault: only its owner changes its key.
   */
  isStillTrusted?: (() => Promise<boolean>) | undefined;
}

/**
 * The vault's key, right before it opens or seals something. Throws like `vaultKeyOf`, and
 * CofferError `conflict` when entries that were seen since the vault was opened end the use of the
 * key.
 */
export async function usableVaultKeyOf(open: OpenVault): Promise<Uint8Array> {
  const key = vaultKeyOf(open);
  await requireStillTrusted(open, open.vault.name);
  return key;
}

/** The vault's key. Throws CofferError when it may not be used. */
export function vaultKeyOf({ vault, key, keyError }: OpenVault): Uint8Array {
  if (key !== null) return key;
  throw keyError ?? new CofferError("no_key", `the key of the vault ${vault.name} was not sealed to you`);
}

/**
 * A vault with the key version that its history names. Queries the service when another version is
 * known. Throws CofferError `conflict` after a concurrent rotation.
 */
export async function vaultAt(store: VaultStore, id: string, version: number | null): Promise<OpenVault> {
  const isIt = ({ vault, key }: OpenVault): boolean => vault.key_version === version && key !== null;
  const known = await store.one(id);
  if (isIt(known)) return known;
  const open = await store.fresh(id);
  if (isIt(open) || open.key === null) return open;
  throw new CofferError("conflict", `${open.vault.name} was given a new key at the same time: try again`);
}

/** A vault as the service shows it, unverified. */
export function vaultOf(view: VaultView): Vault {
  const { id, org_id, name, type, permission, safe_for_travel, record_count, key_version, created_at } = view;
  const updated_at = view.updated_at ?? created_at;
  const shown = { id, org_id, name, type, permission, safe_for_travel, record_count, key_version };
  return { ...shown, created_at, updated_at, problem: null };
}

/**
 * Opens the key of a personal vault, which only its owner can have sealed. Throws CofferError
 * `not_decrypted`.
 */
export async function openOwnVaultKey(view: VaultView, { user_key }: PersonSession): Promise<Uint8Array> {
  try {
    return await unboxBound(decodeBase64(user_key), view.encrypted_key ?? "", contexts.ownVaultKey(view.id));
  } catch (cause) {
    const what = `the key of the personal vault ${view.name} was not sealed by you: it is not used`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}

/**
 * Opens the key of a shared vault, which its creator sealed under the user key, or a manager to the
 * public key; null when it was not sealed to the caller. Only the check in the history proves that
 * it is the vault's key. Throws CofferError `not_decrypted`.
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
    const what = `the key of the vault ${name} cannot be opened: it was sealed for another person, or altered`;
    throw new CofferError("not_decrypted", what, { cause });
  }
}
