import { contexts } from "@coffer/crypto";
import { holderOf, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { grantKey } from "../histories/grant-key.ts";
import { requireRequested } from "../http/require-requested.ts";
import { type ConfirmKey, requireConfirmed } from "../people/public-key.ts";
import { keyOf } from "../secrets/sealed-secret.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { ClientGrantView, MachineView } from "../views.ts";
import { folderAt } from "./share-folder.ts";

export interface GrantRequest {
  clientId: string;
  folderId: string;
  permission: "read" | "write";
}

/**
 * Seals a folder's key to a machine's public key and sends it with the entry that names the
 * machine, or changes the machine's permission. The public key comes from another folder of the
 * organization that the caller uses; for any other machine the words are compared first. Throws CofferError
 * `holder_unconfirmed` when they are not compared, or the service shows another key than the
 * histories; `access_denied` when the caller does not manage the folder.
 */
export async function grantFolder(
  store: SecretStore,
  trust: PersonTrust,
  machine: MachineView,
  { clientId, folderId, permission }: GrantRequest,
  path: string,
  confirm: ConfirmKey | undefined,
): Promise<ClientGrantView> {
  const who = `client:${clientId}` as const;
  // A repetition after a concurrent change must not ask again.
  let said: Promise<boolean> | undefined;
  const once: ConfirmKey | undefined = confirm && ((holder) => (said ??= confirm(holder)));
  return grantKey(trust, `folder:${folderId}`, async (state, { res: organization }) => ({
    // Among the last requests before the entry is signed: a removal that they show ends this.
    holder: { who, key: await machineKey(trust, organization, machine, once) },
    permission,
    key: keyOf(await folderAt(store, folderId, state.ver)),
    context: contexts.sharedFolderKey(folderId),
    async send(body) {
      const answer = await store.send({ method: "PUT", path, body });
      return requireRequested<ClientGrantView>(answer, { client_id: clientId, folder_id: folderId, permission });
    },
  }));
}

/** The public key of a machine. Managers of other organizations have no say. */
async function machineKey(
  { histories }: PersonTrust,
  organization: Resource,
  { client_id: id, name, public_key: shown, folders }: MachineView,
  confirm: ConfirmKey | undefined,
): Promise<string> {
  const keys = new Set<string>();
  for (const { state, accepted } of Object.values((await histories.record()).resources)) {
    if (!accepted || state === null || `org:${state.org ?? ""}` !== organization) continue;
    // Where this device knows of the machine, and where the service says so.
    const isShown = folders.some((folder) => state.res === `folder:${folder.id}`);
    if (!isShown && holderOf(state, `client:${id}`) === undefined) continue;
    const holder = holderOf((await histories.newest(state.res)).state, `client:${id}`);
    if (holder !== undefined) keys.add(holder.key);
  }
  if (keys.size === 1 && keys.has(shown)) return shown;
  if (keys.size > 0)
    throw new CofferError(
      "holder_unconfirmed",
      `the service shows another public key for the machine ${name} (${id}) than the histories of your folders: it was not given the folder's key`,
    );
  if (confirm === undefined)
    throw new CofferError(
      "holder_unconfirmed",
      `no history names the machine ${name} (${id}) yet: \`coffer client confirm ${id}\` compares words and confirms it`,
    );
  await requireConfirmed({ kind: "client", id, name, public_key: shown }, confirm);
  return shown;
}

/**
 * Names a machine in the histories of its granted folders that the caller manages and that do not
 * name it yet, and seals their keys to it. The words are compared once; `confirm` receives the
 * folders, because only the service states that the machine has them.
 */
export async function confirmMachine(
  store: SecretStore,
  trust: PersonTrust,
  machine: MachineView,
  confirm: ConfirmKey,
  pathOf: (folderId: string) => string,
): Promise<{ id: string; name: string }[]> {
  const { client_id: clientId, name: machineName, public_key } = machine;
  const mine = (await store.folders(true)).filter(({ key, permission }) => key !== null && permission === "manage");
  const granted: { id: string; name: string; permission: "read" | "write" }[] = [];
  for (const { id, name } of mine) {
    const grant = machine.folders.find((folder) => folder.id === id);
    const { state } = await trust.histories.newest(`folder:${id}`);
    if (grant === undefined || holderOf(state, `client:${clientId}`) !== undefined) continue;
    granted.push({ id, name, permission: grant.permission === "write" ? "write" : "read" });
  }
  if (granted.length === 0) return [];
  await requireConfirmed({ kind: "client", id: clientId, name: machineName, public_key, folders: granted }, confirm);
  const yes: ConfirmKey = () => Promise.resolve(true);
  for (const { id: folderId, permission } of granted)
    await grantFolder(store, trust, machine, { clientId, folderId, permission }, pathOf(folderId), yes);
  return granted.map(({ id, name }) => ({ id, name }));
}
