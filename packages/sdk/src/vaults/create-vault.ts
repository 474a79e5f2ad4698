import type { VaultType } from "@coffer/contract";
import { box, contexts, decodeBase64, newId, newKey } from "@coffer/crypto";
import type { HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { firstEntry, firstKeyVersion } from "../folders/create-folder.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { PersonSession } from "../people/person-session.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { OpenVault } from "./open-vault.ts";
import { vaultPath } from "./vault-path.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultView } from "./views.ts";

/**
 * Creates a vault under a client-made id, to which its new key is bound. The history of a shared
 * one starts with the caller as the only manager; a personal one has none. A repetition after a
 * lost response finds the vault.
 */
export async function createVault(
  store: VaultStore,
  trust: PersonTrust,
  session: PersonSession,
  name: string,
  type: VaultType,
): Promise<OpenVault> {
  const [id, key] = [newId(), newKey()];
  const context = type === "shared" ? contexts.vaultKey(id) : contexts.ownVaultKey(id);
  const encryptedKey = await box(decodeBase64(session.user_key), key, context);
  const first = type === "shared" ? await firstOf(trust, id, name, key) : undefined;
  const body = { id, name, type, encrypted_key: encryptedKey, key_version: firstKeyVersion, entry: first?.text };
  const made = async (view: VaultView): Promise<OpenVault> => {
    if (first !== undefined) await trust.keep(`vault:${id}`, first.state);
    return store.seen(view);
  };
  try {
    const answer = await store.send({ method: "POST", path: "/api/vaults", body, repeatable: true });
    return await made(requireRequested<VaultView>(answer, { id, type, encrypted_key: encryptedKey }));
  } catch (error) {
    if (!(error instanceof CofferError) || error.code !== "conflict") throw error;
    const there = await viewOf(store, id).catch(() => undefined);
    if (there?.encrypted_key !== encryptedKey) throw error;
    return made(there);
  }
}

async function firstOf(
  trust: PersonTrust,
  id: string,
  name: string,
  key: Uint8Array,
): Promise<{ text: string; state: HistoryState }> {
  const { state: organization } = await trust.organization();
  return firstEntry(trust, `vault:${id}`, organization.res.slice("org:".length), name, key);
}

async function viewOf(store: VaultStore, id: string): Promise<VaultView> {
  return requireRequested<VaultView>(await store.send({ method: "GET", path: vaultPath(id) }), { id });
}
