import { contexts, decodeBase64, openSealed, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import type { Permission } from "../views.ts";
import type { VaultView } from "./views.ts";

/** A vault as its members see it. Its name is not sealed: the service can read it. */
export interface Vault {
  id: string;
  /** The organization in which it was made; null for a person without one. */
  org_id: string | null;
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
}

/** A vault with its key opened. */
export interface OpenVault {
  vault: Vault;
  /** As the service holds it. */
  view: VaultView;
  /** Null when it was sealed for somebody else, or altered: then `keyError` says so. */
  key: Uint8Array | null;
  keyError?: CofferError | undefined;
}

/**
 * A vault as the service lists it, with its key opened. A key that does not open is that vault's trouble alone: it is
 * thrown where the key is needed.
 */
export async function openVault(view: VaultView, session: PersonSession): Promise<OpenVault> {
  const vault = vaultOf(view);
  try {
    if (vault.type === "personal" && isJwe(view.encrypted_key)) {
      const what = `the key of the personal vault ${vault.name} was not sealed by you, but for you: it is not used`;
      return { vault, view, key: null, keyError: new CofferError("not_decrypted", what) };
    }
    return { vault, view, key: await openKey(view, session) };
  } catch (cause) {
    const what = `the key of the vault ${vault.name} cannot be opened: it was sealed for somebody else, or altered`;
    return { vault, view, key: null, keyError: new CofferError("not_decrypted", what, { cause }) };
  }
}

/** The vault's key. Throws CofferError `not_decrypted` when it did not open. */
export function vaultKeyOf({ vault, key, keyError }: OpenVault): Uint8Array {
  if (key !== null) return key;
  throw keyError ?? new CofferError("no_key", `the key of the vault ${vault.name} was not sealed to you`);
}

export function vaultOf(view: VaultView): Vault {
  const { id, org_id, name, type, permission, safe_for_travel, record_count, key_version, created_at } = view;
  const updated_at = view.updated_at ?? created_at;
  return { id, org_id, name, type, permission, safe_for_travel, record_count, key_version, created_at, updated_at };
}

/**
 * The creator's key is a box under the user key, which nobody else can make; everybody else's is sealed to the public key,
 * as anybody can. A personal vault has no one but its creator.
 */
function isJwe(sealed: string): boolean {
  return sealed.includes(".");
}

async function openKey({ id, encrypted_key: sealed }: VaultView, session: PersonSession): Promise<Uint8Array> {
  const userKey = decodeBase64(session.user_key);
  if (!isJwe(sealed)) return unboxBound(userKey, sealed, contexts.vaultKey(id));
  const privateKey = await unboxBound(userKey, session.encrypted_private_key, contexts.privateKey());
  return openSealed(privateKey, sealed, contexts.vaultKey(id));
}
