import { holderOf } from "@coffer/history";
import type { CofferError } from "../errors.ts";
import type { PersonSession } from "../people/person-session.ts";
import { openOwnVaultKey, openSharedVaultKey, type OpenVault, vaultOf } from "../vaults/open-vault.ts";
import type { VaultView } from "../vaults/views.ts";
import type { PersonTrust } from "./person-trust.ts";
import { isStillTrusted, trustedKey } from "./trusted-key.ts";

/**
 * A vault with its key, as far as the key may be used. A personal vault has the key that only its
 * owner could seal under the user key. For every other vault the history determines name,
 * permission, version and key. So a shared vault that is shown as personal does not open, nor the
 * reverse. `stored` means that the view comes from this device's storage: then no request is made
 * while the device knows enough.
 */
export async function trustedVault(
  view: VaultView,
  trust: PersonTrust,
  session: PersonSession,
  { stored = false }: { stored?: boolean } = {},
): Promise<OpenVault> {
  const vault = vaultOf(view);
  if (vault.type === "personal") {
    try {
      return { vault, view, key: await openOwnVaultKey(view, session) };
    } catch (error) {
      return unusable({ vault, view, key: null, keyError: error as CofferError }); // it throws no other
    }
  }
  const keys = await trust.keys();
  const res = `vault:${view.id}` as const;
  const seq = stored ? (await trust.histories.known(res))?.pin.seq : undefined;
  const { trusted, key, keyError } = await trustedKey(
    {
      ...{ res, key_version: view.key_version, history_seq: seq ?? view.history_seq },
      before: () => (stored ? Promise.resolve() : trust.vaultPins.take(view)),
      open: () => openSharedVaultKey(view, session),
    },
    keys,
  );
  if (trusted === undefined) return unusable({ vault, view, key, keyError });
  const { state, accepted } = trusted;
  const { perm = vault.permission } = holderOf(state, keys.self.who) ?? {};
  const named = { ...vault, org_id: state.org, name: state.name, permission: perm };
  if (keyError !== undefined) return unusable({ vault: named, view, key: null, keyError, accepted, verified: trusted });
  const opened = { ...named, key_version: state.ver ?? vault.key_version };
  const open: OpenVault = { vault: opened, view, key, accepted, verified: trusted };
  open.isStillTrusted = () => isStillTrusted(trust, open);
  return open;
}

function unusable(open: OpenVault): OpenVault {
  return { ...open, vault: { ...open.vault, problem: open.keyError?.code ?? null } };
}
