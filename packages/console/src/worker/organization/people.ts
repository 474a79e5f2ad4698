import type { AccountView, MemberView, PersonClient, Role } from "@coffer/sdk";
import type { InvitationView, PeopleView, PersonView } from "../../protocol/people.ts";
import type { ToRotate } from "../../protocol/sharing.ts";
import { codeOf } from "@coffer/sdk/code-of";
import { toRotate } from "../sharing.ts";
import type { Workspace } from "../workspace.ts";

/** The members of the person's organization, and for who may invite the open invitations. */
export async function peopleView(workspace: Workspace): Promise<PeopleView> {
  const { client } = workspace;
  const own = await ownOrganization(workspace);
  if (own === undefined) return { organization: null, mayManage: false, members: [], invitations: [] };
  const mayManage = ["owner", "admin"].includes(own.role);
  const [listed, named, invites] = await Promise.all([
    client.members.list(),
    confirmedMembers(client),
    mayManage ? client.invites.list() : [],
  ]);
  return {
    organization: own.name,
    mayManage,
    members: membersOf(listed, named),
    invitations: invites.map(({ id, email, role, expires_at: expiresAt }) => ({ id, email, role, expiresAt })),
  };
}

type Membership = AccountView["organizations"][number];

/** The organization that the screens are about, under the name of its history. Undefined without one. */
export async function ownOrganization(workspace: Workspace): Promise<Membership | undefined> {
  const { client, organization } = workspace;
  const { organizations } = await client.account();
  if (organizations.length === 0) return undefined;
  // The service could list another organization first than the one that this device signs for.
  const signedFor = await ifKnown(client.organizations.own());
  if (signedFor === null) return organizations.find(({ id }) => id === organization) ?? organizations[0];
  const own = organizations.find(({ id }) => id === signedFor.id);
  return own && { ...own, name: signedFor.name };
}

/**
 * The members with the e-mails of the organization's history. The service could show an e-mail beside another person's
 * id, and a role or removal is signed for the id.
 */
function membersOf(listed: readonly MemberView[], confirmed: Confirmed | null): PersonView[] {
  const named = confirmed && new Map(confirmed.map(({ user_id: id, email }) => [id, email]));
  const shown = listed.map(({ user_id: id, email, name, role, status }): PersonView => {
    const problem = named === null || named.has(id) ? null : "unconfirmed";
    return { id, email: named?.get(id) ?? email, name, role, status, problem };
  });
  const ids = new Set(shown.map(({ id }) => id));
  const ended = [...(named ?? [])]
    .filter(([id]) => !ids.has(id))
    .map(([id, email]): PersonView => ({ id, email, name: "", role: "member", status: "active", problem: "ended" }));
  return [...shown, ...ended];
}

type Confirmed = Awaited<ReturnType<PersonClient["members"]["confirmed"]>>;

/** The members that the organization's history names; null where this device knows no history, and can sign nothing. */
export function confirmedMembers({ members }: PersonClient): Promise<Confirmed | null> {
  return ifKnown(members.confirmed());
}

/** Null where this device knows no history of the organization. */
async function ifKnown<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    const code = codeOf(error);
    if (code === "no_history" || code === "not_accepted") return null;
    throw error;
  }
}

export async function invite(
  workspace: Workspace,
  { email, role }: { email: string; role: Role },
): Promise<{ people: PeopleView; invitation: string }> {
  const { token } = await workspace.client.invites.create(email, role);
  return { people: await peopleView(workspace), invitation: token };
}

/** `email` is the one that the person was shown. */
export async function withdraw(
  workspace: Workspace,
  { id, email }: { id: string; email: string },
): Promise<PeopleView> {
  await workspace.client.invites.remove(id, { email });
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

/** The organization and the inviter of an invitation. Null for one that the service has made, which proves nothing. */
export async function invitationView({ client }: Workspace, invitation: string): Promise<InvitationView | null> {
  const [shown, account] = await Promise.all([ifKnown(client.invites.show(invitation)), client.account()]);
  return (
    shown && {
      ...{ organization: shown.organization.name, from: shown.from },
      isYours: shown.email === account.user.email.trim().normalize("NFKC").toLowerCase(),
    }
  );
}

/** Joins the organization of an invitation. Returns its name. */
export async function join({ client }: Workspace, invitation: string): Promise<string> {
  return (await client.invites.accept(invitation)).name;
}
