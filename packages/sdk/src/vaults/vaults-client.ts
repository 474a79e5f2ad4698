import { box, contexts, decodeBase64, newId, newKey, seal } from "@coffer/crypto";
import { askedFor } from "../asked-for.ts";
import { firstKeyVersion } from "../create-folder.ts";
import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import { publicKeyOf, requireConfirmed } from "../public-key.ts";
import type { ConfirmKey } from "../public-key.ts";
import { vaultKeyOf } from "./open-vault.ts";
import type { OpenVault, Vault } from "./open-vault.ts";
import { allPages, vaultPath } from "./vault-store.ts";
import type { VaultStore } from "./vault-store.ts";
import type { Permission } from "../views.ts";
import type { VaultGrantView, VaultMemberView, VaultView } from "./views.ts";

/** Who is given a vault, and what the person may do in it. */
export interface ShareRequest {
  userId: string;
  /** How the person is called when the key is to be confirmed. */
  name: string;
  permission: Permission;
}

/** Vaults, which hold records. Every method throws CofferError. Vaults are named by their ids. */
export interface VaultsClient {
  /** All vaults of the caller, of every organization. While travelling, only those that are safe for it. */
  list(): Promise<Vault[]>;
  get(id: string): Promise<Vault>;
  /** Makes a vault with a new key that only the caller can open. Only a `shared` one can be shared. */
  create(name: string, options?: { type?: "personal" | "shared" | undefined }): Promise<Vault>;
  /** What is not given stays. */
  update(id: string, change: { name?: string | undefined; safeForTravel?: boolean | undefined }): Promise<Vault>;
  /** With all its records. It cannot be undone. */
  remove(id: string): Promise<void>;
  members(id: string): Promise<VaultMemberView[]>;
  /** Gives a member of the organization the vault with its key, or changes the permission. */
  share(id: string, request: ShareRequest, confirm: ConfirmKey): Promise<VaultGrantView>;
  unshare(id: string, userId: string): Promise<void>;
}

export function vaultsClient(store: VaultStore, session: () => Promise<PersonSession>): VaultsClient {
  const member = (id: string, userId: string): string => `${vaultPath(id)}/members/${encodeURIComponent(userId)}`;
  return {
    list: async () => (await store.list()).map(({ vault }) => vault),
    get: async (id) => (await store.fresh(id)).vault,
    async create(name, { type = "personal" } = {}) {
      return (await createVault(store, await session(), name, type)).vault;
    },
    async update(id, { name, safeForTravel }) {
      const body = { name, safe_for_travel: safeForTravel };
      const answer = await store.send({ method: "PATCH", path: vaultPath(id), body });
      return (await store.seen(askedFor<VaultView>(answer, { id }))).vault;
    },
    async remove(id) {
      await store.send({ method: "DELETE", path: vaultPath(id) });
      store.forget(id);
    },
    members: (id) => allPages<VaultMemberView>(store.send, `${vaultPath(id)}/members`),
    async share(id, request, confirm) {
      return shareVault(store, member(id, request.userId), await store.fresh(id), request, confirm);
    },
    async unshare(id, userId) {
      await store.send({ method: "DELETE", path: member(id, userId) });
    },
  };
}

/** Makes a vault under an id made here, to which its new key is bound. Sent again after a lost answer, it finds itself. */
async function createVault(store: VaultStore, session: PersonSession, name: string, type: string): Promise<OpenVault> {
  const id = newId();
  const encryptedKey = await box(decodeBase64(session.user_key), newKey(), contexts.vaultKey(id));
  const body = { id, name, type, encrypted_key: encryptedKey, key_version: firstKeyVersion };
  try {
    const answer = await store.send({ method: "POST", path: "/api/vaults", body, repeatable: true });
    return await store.seen(askedFor<VaultView>(answer, { id, encrypted_key: encryptedKey }));
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "conflict") throw error;
    const there = await store.fresh(id).catch(() => undefined);
    if (there?.view.encrypted_key !== encryptedKey) throw error;
    return there;
  }
}

/**
 * Seals a vault's key to a member's public key and hands it over, or changes the member's permission.
 * Throws CofferError `access_denied` when the member's key is not confirmed or the caller does not manage the vault.
 */
async function shareVault(
  store: VaultStore,
  path: string,
  open: OpenVault,
  { userId, name, permission }: ShareRequest,
  confirm: ConfirmKey,
): Promise<VaultGrantView> {
  const key = vaultKeyOf(open);
  const { public_key } = await publicKeyOf(store.send, userId);
  await requireConfirmed({ kind: "user", id: userId, name, public_key }, confirm);
  const body = {
    permission,
    encrypted_key: await seal(public_key, key, contexts.vaultKey(open.vault.id)),
    key_version: open.vault.key_version,
  };
  return askedFor<VaultGrantView>(await store.send({ method: "PUT", path, body }), { user_id: userId });
}
