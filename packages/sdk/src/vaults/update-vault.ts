import { requireRequested } from "../http/require-requested.ts";
import { takeName } from "../trust/known-as.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { OpenVault } from "./open-vault.ts";
import { vaultPath } from "./vault-path.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultView } from "./views.ts";

/**
 * Changes a vault's name, which the history of a shared one signs, or whether it stays visible
 * while travelling.
 */
export async function updateVault(
  store: VaultStore,
  trust: PersonTrust,
  id: string,
  { name, safeForTravel }: { name?: string | undefined; safeForTravel?: boolean | undefined },
): Promise<OpenVault> {
  const update = async (entry: string | undefined): Promise<VaultView> => {
    const body = { name, safe_for_travel: safeForTravel, entry };
    return requireRequested<VaultView>(await store.send({ method: "PATCH", path: vaultPath(id), body }), { id });
  };
  const { vault } = await store.toRead(id);
  if (name === undefined || vault.type === "personal") return store.seen(await update(undefined));
  const changed = await trust.sign(`vault:${id}`, ({ state }) =>
    Promise.resolve({ change: state.name === name ? undefined : { name }, send: update }),
  );
  await takeName(trust.histories, `vault:${id}`);
  const seen = await store.seen(changed);
  return { ...seen, vault: { ...seen.vault, name } };
}
