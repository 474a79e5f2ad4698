import { holderOf } from "@coffer/history";
import type { Send } from "../http/transport.ts";
import { type ConfirmKey, publicKeyOf, requireConfirmed } from "../people/public-key.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { MemberView } from "../views.ts";
import { canonicalEmail } from "./invite-member.ts";
import { permissionOfRole } from "./organization.ts";

/**
 * Confirms a member that the organization's history does not name with this key, after the words
 * were compared.
 */
export async function confirmMember(
  send: Send,
  trust: PersonTrust,
  { user_id: userId, email, role }: MemberView,
  confirm: ConfirmKey,
): Promise<void> {
  const { state } = await trust.organization();
  const { public_key: key } = await publicKeyOf(send, userId);
  const holder = { who: `user:${userId}` as const, key, perm: permissionOfRole(role), email: canonicalEmail(email) };
  if (holderOf(state, holder.who)?.key === key) return;
  await requireConfirmed({ kind: "user", id: userId, name: email, public_key: key, role }, confirm);
  await trust.sign(state.res, () =>
    Promise.resolve({
      change: { set: [holder] },
      send: (entry) => send({ method: "POST", path: "/api/org/history", body: { entry } }),
    }),
  );
}
