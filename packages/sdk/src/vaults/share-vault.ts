import { contexts } from "@coffer/crypto";
import { holderOf } from "@coffer/history";
import { askedFor } from "../asked-for.ts";
import { CofferError } from "../errors.ts";
import type { CofferErrorCode } from "../errors.ts";
import { confirmedKey, memberIn } from "../histories/confirmed-key.ts";
import { rememberEnded } from "../histories/ended.ts";
import { grantKey } from "../histories/grant-key.ts";
import { endedHolders } from "../histories/next-key.ts";
import type { PersonTrust } from "../histories/person-trust.ts";
import type { ShareRequest } from "../share-folder.ts";
import { vaultAt, vaultKeyOf } from "./open-vault.ts";
import type { OpenVault } from "./open-vault.ts";
import { rotateVault } from "./rotate-vault.ts";
import type { RotatedVault } from "./rotate-vault.ts";
import { vaultPath } from "./vault-path.ts";
import { allPages, memberPath } from "./vault-store.ts";
import type { VaultStore } from "./vault-store.ts";
import type { VaultGrantView, VaultMemberView } from "./views.ts";

/** A member of a vault. */
export type VaultMember = VaultMemberView & {
  /**
   * Why the member has no key: `holder_unconfirmed` when the history does not name the member with the key that the
   * organization's history has, `key_pending` until a manager seals it; null when there is none of it.
   */
  problem: Extract<CofferErrorCode, "holder_unconfirmed" | "key_pending"> | null;
  /** Whether the member's access has ended, and the history says so only from the next rotation on. */
  ended: boolean;
};

/** The members of a vault, and those whose access has ended and whom its history still names. */
export async function vaultMembers(store: VaultStore, trust: PersonTrust, id: string): Promise<VaultMember[]> {
  const { vault, accepted } = await store.fresh(id);
  const listed = await allPages<VaultMemberView>(store.send, `${vaultPath(id)}/members`);
  if (vault.type === "personal" || accepted === undefined)
    return listed.map((member) => ({ ...member, problem: null, ended: false }));
  const { state } = await trust.histories.newest(`vault:${id}`);
  const { state: organization } = await trust.histories.newest(`org:${state.org ?? ""}`);
  const members = listed.map((member): VaultMember => {
    const who = `user:${member.user_id}`;
    const isConfirmed = confirmedKey(organization, state, who) !== undefined;
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
  return [...members, ...ended];
}

/**
 * Seals a vault's key to the public key that the organization's history has for a member, and hands it over with the entry
 * that names the member; or changes the member's permission.
 * Throws CofferError `holder_unconfirmed` when the organization's history does not name the member, `access_denied` when the
 * caller does not manage the vault, and why the vault's key cannot be used.
 */
export async function shareVault(
  store: VaultStore,
  trust: PersonTrust,
  id: string,
  { userId, permission }: ShareRequest,
): Promise<VaultGrantView> {
  requireShared(await store.toWrite(id));
  return grantKey(trust, `vault:${id}`, async (state) => {
    const { state: organization } = await trust.histories.newest(`org:${state.org ?? ""}`);
    return {
      holder: memberIn(organization, userId),
      permission,
      key: vaultKeyOf(await vaultAt(store, id, state.ver)),
      context: contexts.vaultKey(id),
      async send(body) {
        const answer = await store.send({ method: "PUT", path: memberPath(id, userId), body });
        return askedFor<VaultGrantView>(answer, { user_id: userId, permission });
      },
    };
  });
}

/**
 * Ends a member's access, and gives the vault a new key when the caller manages it and it has a history: the history says
 * that the member is gone from then on. Returns null when the caller leaves, or the vault has no history.
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
  try {
    await store.send({ method: "DELETE", path: memberPath(id, userId) });
  } catch (error) {
    // One whose access has ended, and whom the history still names.
    const isGone = error instanceof CofferError && error.status === 404 && !error.foreign;
    const state = open?.accepted === undefined ? undefined : (await trust.histories.known(`vault:${id}`))?.state;
    if (!isGone || state == null || holderOf(state, `user:${userId}`) === undefined) throw error;
  }
  if (leaves) store.forget(id);
  else await rememberEnded(trust.histories, `user:${userId}`, (res) => res === `vault:${id}`);
  return open?.accepted === undefined ? null : rotateVault(store, trust, id);
}

/** Throws CofferError unless others may be given the vault. */
function requireShared({ vault }: OpenVault): void {
  if (vault.type !== "personal") return;
  throw new CofferError(
    "invalid_request",
    `${vault.name} is a personal vault, which is its owner's alone: make a shared one`,
  );
}
