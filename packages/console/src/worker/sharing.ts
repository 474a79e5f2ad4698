import type { Permission, VaultMember } from "@coffer/sdk";
import type { MemberView, SharingView } from "../protocol.ts";
import type { Workspace } from "./workspace.ts";

/** The members of a vault, and for a manager the colleagues who could get it. */
export async function sharingOf(workspace: Workspace, vaultId: string): Promise<SharingView> {
  const { client } = workspace;
  const vault = await client.vaults.get(vaultId);
  const members = (await client.vaults.members(vaultId)).map(memberView);
  if (vault.permission !== "manage" || vault.org_id === null) return { members, colleagues: [] };
  const named = await workspace.inOrganization(vault.org_id).members.confirmed();
  const present = new Set(members.filter(({ ended }) => !ended).map(({ id }) => id));
  const colleagues = named.map(({ user_id: id, email }) => ({ id, email })).filter(({ id }) => !present.has(id));
  return { members, colleagues };
}

/** Gives a member the vault, or changes the permission. */
export async function share(
  workspace: Workspace,
  { vaultId, userId, permission }: { vaultId: string; userId: string; permission: Permission },
): Promise<SharingView> {
  await workspace.client.vaults.share(vaultId, { userId, permission });
  return sharingOf(workspace, vaultId);
}

/** Ends a member's access; the vault gets a new key. Names the members who did not get it. */
export async function unshare(
  workspace: Workspace,
  { vaultId, userId }: { vaultId: string; userId: string },
): Promise<{ sharing: SharingView; without: string[] }> {
  const rotated = await workspace.client.vaults.unshare(vaultId, userId);
  const without = (rotated?.left_out ?? []).map(({ name }) => name);
  return { sharing: await sharingOf(workspace, vaultId), without };
}

function memberView({ user_id: id, email, permission, problem, ended }: VaultMember): MemberView {
  return { id, email, permission, problem, ended };
}
