import type { Permission, VaultMember } from "@coffer/sdk";
import type { HolderView, Rotated, Shared, SharingView, ToRotate } from "../protocol/sharing.ts";
import type { Workspace } from "./workspace.ts";

/** Who holds a folder or vault, and for a manager the colleagues who could get it. */
export function sharingOf(workspace: Workspace, shared: Shared): Promise<SharingView> {
  return shared.kind === "vault" ? vaultSharing(workspace, shared.id) : folderSharing(workspace, shared.id);
}

async function vaultSharing(workspace: Workspace, vaultId: string): Promise<SharingView> {
  const { client } = workspace;
  const vault = await client.vaults.get(vaultId);
  const holders = (await client.vaults.members(vaultId)).map(vaultHolder);
  if (vault.permission !== "manage" || vault.org_id === null) return { holders, colleagues: [] };
  const named = await workspace.inOrganization(vault.org_id).members.confirmed();
  return { holders, colleagues: colleaguesOf(named, holders) };
}

function vaultHolder({ user_id: id, email: name, permission, problem, ended }: VaultMember): HolderView {
  return { kind: "user", id, name, permission, problem, ended };
}

async function folderSharing({ client }: Workspace, id: string): Promise<SharingView> {
  const [holders, named, folders] = await Promise.all([
    client.folders.members(id),
    client.members.confirmed({ folder: id }),
    client.folders.list(),
  ]);
  const mayManage = folders.some((folder) => folder.id === id && folder.permission === "manage");
  return { holders, colleagues: mayManage ? colleaguesOf(named, holders) : [] };
}

function colleaguesOf(
  named: readonly { user_id: string; email: string }[],
  holders: readonly HolderView[],
): SharingView["colleagues"] {
  const present = new Set(holders.filter(({ ended }) => !ended).map(({ id }) => id));
  return named.map(({ user_id: id, email }) => ({ id, email })).filter(({ id }) => !present.has(id));
}

/** Gives a member a folder or vault, or changes the permission. */
export async function share(
  workspace: Workspace,
  { kind, id, userId, permission }: Shared & { userId: string; permission: Permission },
): Promise<SharingView> {
  const { client } = workspace;
  await (kind === "vault" ? client.vaults : client.folders).share(id, { userId, permission });
  return sharingOf(workspace, { kind, id });
}

/** Ends a member's access; the folder or vault gets a new key. */
export async function unshare(
  workspace: Workspace,
  { kind, id, userId }: Shared & { userId: string },
): Promise<{ sharing: SharingView; rotated: Rotated }> {
  const { client } = workspace;
  if (kind === "vault") {
    const report = await client.vaults.unshare(id, userId);
    const rotated = { without: namesOf(report?.left_out ?? []), unopened: [] };
    return { sharing: await sharingOf(workspace, { kind, id }), rotated };
  }
  await client.folders.unshare(id, userId);
  const rotated = await rotate(workspace, { kind, id });
  return { sharing: await sharingOf(workspace, { kind, id }), rotated };
}

/** Gives a folder or vault a new key. */
export async function rotate({ client }: Workspace, { kind, id }: Shared): Promise<Rotated> {
  if (kind === "vault") return { without: namesOf((await client.vaults.rotate(id)).left_out), unopened: [] };
  const { left_out: leftOut, unopened } = await client.folders.rotate(id);
  return { without: namesOf(leftOut), unopened: unopened.map(({ uid }) => uid) };
}

export async function rename(
  { client, vaultChanged }: Workspace,
  { kind, id, name }: Shared & { name: string },
): Promise<null> {
  if (kind === "vault") vaultChanged(await client.vaults.update(id, { name }));
  else await client.folders.rename(id, name);
  return null;
}

export async function remove({ client }: Workspace, { kind, id }: Shared): Promise<null> {
  await (kind === "vault" ? client.vaults.remove(id) : client.folders.remove(id, { force: true }));
  return null;
}

function namesOf(holders: readonly { name: string }[]): string[] {
  return holders.map(({ name }) => name);
}

/** The folders and vaults whose histories name a member or machine that has no access any more. */
export function toRotate(named: readonly { kind: "folder" | "vault"; id: string; name: string }[]): ToRotate[] {
  return named.map(({ kind, id, name }) => ({ kind, id, name }));
}
