import type { Role } from "@coffer/sdk";
import type { PeopleView, ToRotate } from "../protocol.ts";
import { toRotate } from "./sharing.ts";
import type { Workspace } from "./workspace.ts";

/** The members of the person's organization, and for who may invite the open invitations. */
export async function peopleView({ client }: Workspace): Promise<PeopleView> {
  const { organizations } = await client.account();
  const [own] = organizations;
  if (own === undefined) return { organization: null, mayManage: false, members: [], invitations: [] };
  const mayManage = ["owner", "admin"].includes(own.role);
  const [members, invites] = await Promise.all([client.members.list(), mayManage ? client.invites.list() : []]);
  return {
    organization: own.name,
    mayManage,
    members: members.map(({ user_id: id, email, name, role, status }) => ({ id, email, name, role, status })),
    invitations: invites.map(({ id, email, role, expires_at: expiresAt }) => ({ id, email, role, expiresAt })),
  };
}

export async function invite(
  workspace: Workspace,
  { email, role }: { email: string; role: Role },
): Promise<{ people: PeopleView; invitation: string }> {
  const { token } = await workspace.client.invites.create(email, role);
  return { people: await peopleView(workspace), invitation: token };
}

export async function withdraw(workspace: Workspace, id: string): Promise<PeopleView> {
  await workspace.client.invites.remove(id);
  return peopleView(workspace);
}

export async function setRole(
  workspace: Workspace,
  { userId, role }: { userId: string; role: Role },
): Promise<PeopleView> {
  await workspace.client.members.update(userId, { role });
  return peopleView(workspace);
}

/** Ends a membership. `rotate`: the folders and vaults that need a new key. */
export async function removeMember(
  workspace: Workspace,
  userId: string,
): Promise<{ people: PeopleView; rotate: ToRotate[] }> {
  const { client } = workspace;
  const { rotate } = await client.members.remove(userId);
  return { people: await peopleView(workspace), rotate: toRotate(rotate) };
}

/** Joins the organization of an invitation. Returns its name. */
export async function join({ client }: Workspace, invitation: string): Promise<string> {
  return (await client.invites.accept(invitation)).name;
}
