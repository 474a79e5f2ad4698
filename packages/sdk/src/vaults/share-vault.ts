import { contexts } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import { CofferError, type CofferErrorCode } from "../errors.ts";
import type { ShareRequest } from "../folders/share-folder.ts";
import { grantKey } from "../histories/grant-key.ts";
import { endedHolders } from "../histories/next-key.ts";
import { requireRequested } from "../http/require-requested.ts";
import { confirmedKey, memberIn } from "../trust/confirmed-key.ts";
import { rememberEnded, unlessGone } from "../trust/ended.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { type OpenVault, vaultAt, vaultKeyOf } from "./open-vault.ts";
import { type RotatedVault, rotateVault } from "./rotate-vault.ts";
import { vaultPath } from "./vault-path.ts";
import { allPages, memberPath, type VaultStore } from "./vault-store.ts";
import type { VaultGrantView, VaultMemberView } from "./views.ts";

/** A member of a vault. */
export type VaultMember = VaultMemberView & {
  /**
   * Why the member has no key: `holder_unconfirmed` when the history does not name the member with
   * the key of the organization's history, or not again after the member was removed and returned;
   * `key_pending` until a manager seals it; otherwise null.
   */
  problem: Extract<CofferErrorCode, "holder_unconfirmed" | "key_pending"> | null;
  /**
   * Whether the member's access has ended, and the history will record it with the next rotation.
   */
  ended: boolean;
};

/** The members of a vault, and former members that its history still names. */
export async function vaultMembers(store: VaultStore, trust: PersonTrust, id: string): Promise<VaultMember[]> {
  const { vault, accepted } = await store.fresh(id);
  const listed = await allPages<VaultMemberView>(store.send, `${vaultPath(id)}/members`);
  if (vault.type === "personal" || accepted === undefined)
    return listed.map((member) => ({ ...member, problem: null, ended: false }));
  const { trusted, organization } = await trust.histories.withOrganization(`vault:${id}`);
  const { state } = trusted;
  const named = listed.map(async (member): Promise<VaultMember> => {
    const who = `user:${member.user_id}`;
    const isConfirmed = (await confirmedKey(organization, trusted, who)) !== undefined;
    const pending = member.has_key === false ? "key_pending" : null;
    const { email = member.email } = holderOf(organization, who) ?? {};
    const { perm = member.permission } = holderOf(state, who) ?? {};
    return { ...member, email, permission: perm, problem: isConfirmed ? pending : "holder_unconfirmed", ended: false };
  });
  const ended = endedHolders(
    state,
    listed.map(({ user_id }) => ({ kind: "user", id: user_id })),
  ).map((who): VaultMember => {
    const userId = who.slice("user:".length);
    const named = { user_id: userId, name: "", email: holderOf(organization, who)?.email ?? userId };
    const { perm = "read" } = holderOf(state, who) ?? {};
    return { ...named, permission: perm, added_at: "", has_key: false, problem: null, ended: true };
  });
  return [...(await Promise.all(named)), ...ended];
}

/**
 * Seals a vault's key to a member's public key from the organization's history, and sends it with
 * the entry that names the member; or changes the member's permission. Throws CofferError
 * `holder_unconfirmed` when the organization's history does not name the member, `access_denied`
 * when the caller does not manage the vault, and the reason of an unusable key.
 */
export async function shareVault(
  store: VaultStore,
  trust: PersonTrust,
  id: string,
  { userId, permission }: ShareRequest,
): Promise<VaultGrantView> {
  requireShared(await store.toWrite(id));
  return grantKey(trust, `vault:${id}`, async (state, organization) => ({
    holder: memberIn(organization, userId),
    permission,
    key: vaultKeyOf(await vaultAt(store, id, state.ver)),
    context: contexts.vaultKey(id),
    async send(body) {
      const answer = await store.send({ method: "PUT", path: memberPath(id, userId), body });
      return requireRequested<VaultGrantView>(answer, { user_id: userId, permission });
    },
  }));
}

/**
 * Ends a member's access. If the caller manages the vault and it has a history, also rotates it, so
 * that the history records the removal. Returns null when the caller leaves, or the vault has no
 * history. Throws the reason when this device knows a history that the service does not show.
 */
export async function unshareVault(
  store: VaultStore,
  trust: PersonTrust,
  id: string,
  userId: string,
): Promise<RotatedVault | null> {
  const { who } = await trust.self();
  const leaves = who === `user:${userId}`;
  const open = leaves ? undefined : await store.toWrite(id);
  const known = open === undefined ? undefined : await trust.histories.known(`vault:${id}`);
  const request = (): Promise<unknown> => store.send({ method: "DELETE", path: memberPath(id, userId) });
  const isIt = (res: string): boolean => !leaves && res === `vault:${id}`;
  const member = `user:${userId}` as const;
  await rememberEnded(trust.histories, [member], isIt, () => unlessGone(request, known?.state, member));
  if (leaves) store.forget(id);
  return known === undefined ? null : rotateVault(store, trust, id);
}

/** Throws CofferError for a personal vault. */
function requireShared({ vault }: OpenVault): void {
  if (vault.type !== "personal") return;
  throw new CofferError(
    "invalid_request",
    `${vault.name} is a personal vault, which is its owner's alone: make a shared one`,
  );
}
