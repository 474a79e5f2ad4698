import type { Permission, Role } from "@coffer/contract";
import { newId } from "@coffer/crypto";
import { type HistoryState, sign } from "@coffer/history";
import { requireRequested } from "../http/require-requested.ts";
import type { Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { memberIn } from "../trust/confirmed-key.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { MemberView, OrganizationView } from "../views.ts";
import { understoodHistory } from "./history-failure.ts";
import type { Self } from "./self.ts";

/** The permission of a role in an organization's history. */
export function permissionOfRole(role: Role): Permission {
  return role === "owner" || role === "admin" ? "manage" : "read";
}

/** Signs entry 0 of an organization's history, with the caller as its only manager. */
export async function firstOrganizationEntry(
  self: Self,
  id: string,
  name: string,
  email: string,
): Promise<{ text: string; state: HistoryState }> {
  const set = [{ who: self.who, key: self.publicKey, perm: "manage" as const, email }];
  const by = self.who as `user:${string}`; // people make organizations
  return understoodHistory(sign(null, `org:${id}`, by, await self.privateKey(), { name, set }));
}

/**
 * Creates an organization under a client-made id. Its history starts with the caller as the only
 * manager.
 */
export async function createOrganization(
  send: Send,
  trust: PersonTrust,
  { user }: PersonSession,
  name: string,
): Promise<OrganizationView> {
  const id = newId();
  const { text, state } = await firstOrganizationEntry(await trust.self(), id, name, user.email);
  const answer = await send({ method: "POST", path: "/api/orgs", body: { name, id, entry: text } });
  const made = requireRequested<OrganizationView>(answer, { id });
  await trust.keep(`org:${id}`, state);
  return made;
}

/**
 * Changes a member's role or status, with an entry when the role changes the permission in the
 * history.
 */
export async function updateMember(
  send: Send,
  trust: PersonTrust,
  userId: string,
  change: { role?: Role | undefined; status?: MemberView["status"] | undefined },
): Promise<MemberView> {
  const path = `/api/org/members/${encodeURIComponent(userId)}`;
  const update = async (entry: string | undefined): Promise<MemberView> =>
    requireRequested<MemberView>(await send({ method: "PATCH", path, body: { ...change, entry } }), {
      user_id: userId,
      ...change,
    });
  const { role } = change;
  if (role === undefined) return update(undefined);
  const { state } = await trust.organization();
  return trust.sign(state.res, ({ state: before }) => {
    const perm = permissionOfRole(role);
    const present = memberIn(before, userId);
    return Promise.resolve({
      change: present.perm === perm ? undefined : { set: [{ ...present, perm }] },
      send: update,
    });
  });
}
