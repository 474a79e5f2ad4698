import type { Permission } from "@coffer/contract";
import { keyCheck } from "@coffer/crypto";
import { type Change, cutName, type HistoryState, type Holder, holderOf, type Resource, sign } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { openFolderKey, personUnsealing } from "../folders/folder-key.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { type ConfirmKey, publicKeyOf, requireConfirmed } from "../people/public-key.ts";
import { dataOf } from "../http/list-answer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import { openSharedVaultKey } from "../vaults/open-vault.ts";
import { vaultPath } from "../vaults/vault-path.ts";
import { allPages } from "../vaults/vault-store.ts";
import type { VaultMemberView, VaultView } from "../vaults/views.ts";
import type { FolderView, HolderView, MemberView } from "../views.ts";
import { understoodHistory } from "./history-failure.ts";
import { holderParts } from "./holder-parts.ts";
import { canonicalEmail } from "./invite-member.ts";
import { permissionOfRole } from "./organization.ts";
import { personHistoryPath } from "./read-entries.ts";
import { shownAt } from "./send-signed.ts";

/** The result of an adoption. */
export interface Adoption {
  name: string;
  /**
   * Members and machines that the service lists and the history does not name. Nothing is sealed to
   * them until they are confirmed.
   */
  left_out: { kind: "user" | "client"; id: string; name: string }[];
}

/** A member or machine that the first entry will name. The service has stated the permission. */
export interface AdoptedHolder {
  kind: "user" | "client";
  id: string;
  /** The e-mail in the organization's history; for an organization and a machine the service's word. */
  name: string;
  permission: Permission;
}

/**
 * Decides before the signature whether all holders may have the permission shown. The list omits the
 * caller; without other holders the function is not called.
 */
export type ConfirmHolders = (holders: readonly AdoptedHolder[]) => Promise<boolean>;

/**
 * Starts the history of an organization without one: entry 0 names the caller, and each member
 * whose words were compared. Throws CofferError `access_denied` when the caller is no owner or
 * admin, or the members are not confirmed, `conflict` when there is a history.
 */
export async function adoptOrganization(
  send: Send,
  trust: PersonTrust,
  confirm: ConfirmKey,
  confirmHolders: ConfirmHolders,
): Promise<Adoption> {
  const { id, name } = await trust.shownOrganization();
  const self = await trust.self();
  const members = dataOf<MemberView>(await send({ method: "GET", path: "/api/org/members" }));
  const set: Holder[] = [];
  const leftOut: Adoption["left_out"] = [];
  for (const { user_id: userId, email, role } of members) {
    const who = `user:${userId}` as const;
    const isSelf = who === self.who;
    const key = isSelf ? self.publicKey : (await publicKeyOf(send, userId)).public_key;
    const holder = { kind: "user", id: userId, name: email, public_key: key, role } as const;
    if (isSelf || (await isConfirmed(holder, confirm)))
      set.push({ who, key, perm: permissionOfRole(role), email: canonicalEmail(email) });
    else leftOut.push({ kind: "user", id: userId, name: email });
  }
  const emails = new Map(members.map(({ user_id: userId, email }) => [`user:${userId}`, email]));
  await requireHolders(set, self.who, (who) => emails.get(who), confirmHolders);
  await adopt(send, trust, `org:${id}`, { name, set });
  return { name, left_out: leftOut };
}

/**
 * Starts the history of a folder without one, from its current key on. People in the organization's
 * history need no comparison; the words of each machine are compared. The service states who they
 * are, with their permissions, so `confirmHolders` decides before anything is signed. The service
 * has handed out the current key, so rotate the folder afterwards. Throws CofferError
 * `access_denied` when they are not confirmed.
 */
export async function adoptFolder(
  send: Send,
  trust: PersonTrust,
  session: PersonSession,
  folderId: string,
  confirm: ConfirmKey,
  confirmHolders: ConfirmHolders,
): Promise<Adoption> {
  const res = `folder:${folderId}` as const;
  const { state: organization } = await trust.organization();
  await requireNoCut(organization, res);
  const views = dataOf<FolderView>(await send({ method: "GET", path: "/api/org/folders" }));
  const view = views.find(({ id }) => id === folderId);
  if (view === undefined) throw new CofferError("not_found", `there is no folder ${folderId} that you may use`);
  const key = await openFolderKey(view, personUnsealing(session));
  if (key === null) throw new CofferError("no_key", `the key of the folder ${view.name} was not sealed to you`);
  const listed = dataOf<HolderView>(await send({ method: "GET", path: `/api/org/folders/${folderId}/members` }));
  const { set, leftOut } = await confirmedHolders(organization, listed, confirm);
  const names = new Map(listed.map(({ kind, id, name }) => [`${kind}:${id}`, name]));
  const nameOf = (who: string): string | undefined => holderOf(organization, who)?.email ?? names.get(who);
  await requireHolders(set, (await trust.self()).who, nameOf, confirmHolders);
  const change = {
    org: organization.res.slice("org:".length),
    name: view.name,
    set,
    ver: view.key_version,
    check: await keyCheck(key, res, view.key_version),
  };
  await adopt(send, trust, res, change, organization.head.seq);
  return { name: view.name, left_out: leftOut };
}

/**
 * Starts the history of a shared vault without one, from its current key on. It names the members
 * that the organization's history names. The service states who they are, with their permissions, so
 * `confirmHolders` decides before anything is signed. The service has handed out the current key, so
 * rotate the vault afterwards. Throws CofferError `access_denied` when they are not confirmed.
 */
export async function adoptVault(
  send: Send,
  trust: PersonTrust,
  session: PersonSession,
  vaultId: string,
  confirmHolders: ConfirmHolders,
): Promise<Adoption> {
  const res = `vault:${vaultId}` as const;
  const view = requireRequested<VaultView>(await send({ method: "GET", path: vaultPath(vaultId) }), { id: vaultId });
  if (view.type === "personal" || view.org_id === null)
    throw new CofferError("invalid_request", `${view.name} is a personal vault, which has no history`);
  // Another device of the person may know a history that the service hides.
  await trust.vaultPins.take(view);
  const { state: organization } = await trust.histories.newest(`org:${view.org_id}`);
  await requireNoCut(organization, res);
  const key = await openSharedVaultKey(view, session);
  if (key === null) throw new CofferError("no_key", `the key of the vault ${view.name} was not sealed to you`);
  const listed = await allPages<VaultMemberView>(send, `${vaultPath(vaultId)}/members`);
  const set: Holder[] = [];
  const leftOut: Adoption["left_out"] = [];
  for (const { user_id: id, email, permission: perm } of listed) {
    const member = holderOf(organization, `user:${id}`);
    if (member === undefined) leftOut.push({ kind: "user", id, name: email });
    else set.push({ who: member.who, key: member.key, perm });
  }
  const { name, key_version: ver, org_id: org } = view;
  const emailOf = (who: string): string | undefined => holderOf(organization, who)?.email;
  await requireHolders(set, (await trust.self()).who, emailOf, confirmHolders);
  const change = { org, name, set, ver, check: await keyCheck(key, res, ver) };
  await adopt(send, trust, res, change, organization.head.seq);
  return { name, left_out: leftOut };
}

/** Throws CofferError `access_denied` when the holders besides the caller are not confirmed. */
async function requireHolders(
  set: readonly Holder[],
  self: string,
  nameOf: (who: string) => string | undefined,
  confirmHolders: ConfirmHolders,
): Promise<void> {
  const others = set.filter(({ who }) => who !== self);
  const shown = others.map(({ who, perm: permission }): AdoptedHolder => {
    const { kind, id } = holderParts(who);
    return { kind, id, name: nameOf(who) ?? id, permission };
  });
  if (shown.length === 0 || (await confirmHolders(shown))) return;
  throw new CofferError("access_denied", "the members and machines were not confirmed: nothing was signed");
}

async function confirmedHolders(
  organization: HistoryState,
  listed: readonly HolderView[],
  confirm: ConfirmKey,
): Promise<{ set: Holder[]; leftOut: Adoption["left_out"] }> {
  const set: Holder[] = [];
  const leftOut: Adoption["left_out"] = [];
  for (const { kind, id, name, public_key, permission: perm } of listed) {
    const who = `${kind}:${id}` as const;
    const member = holderOf(organization, who);
    const isKnown = kind === "user" && member?.key === public_key;
    if (isKnown || (kind === "client" && (await isConfirmed({ kind, id, name, public_key }, confirm))))
      set.push({ who, key: public_key, perm });
    else leftOut.push({ kind, id, name: member?.email ?? name });
  }
  return { set, leftOut };
}

/**
 * Throws CofferError `conflict` when the removal of a member has named an entry of this history:
 * the service hides it.
 */
async function requireNoCut({ former }: HistoryState, res: Resource): Promise<void> {
  const name = await cutName(res);
  if (former.some(({ cut }) => Object.hasOwn(cut, name)))
    throw new CofferError("conflict", `the organization's history names an entry of ${res}: adopt what has none`);
}

async function adopt(send: Send, trust: PersonTrust, res: Resource, change: Change, checkedAt?: number): Promise<void> {
  // A service that hides a history, also one that another device put into the keyring, must not get
  // another one.
  if ((await trust.histories.learned(res)) !== undefined)
    throw new CofferError("conflict", `one of your devices knows a history of ${res}: adopt what has none`);
  const { who, privateKey } = await trust.self();
  const by = who as `user:${string}`; // people adopt
  const { text, state } = await understoodHistory((async () => sign(null, res, by, await privateKey(), change))());
  const headers = res.startsWith("org:") ? { "x-coffer-org": res.slice("org:".length) } : undefined;
  await send({ method: "POST", path: personHistoryPath(res), body: { entry: text }, headers });
  // An entry that only this device trusts would lock it out.
  if ((await shownAt(trust.histories.read, res, state.head)) !== "entry")
    throw new CofferError(
      "bad_answer",
      `the service acknowledges the adoption of ${res} and does not show it: try again`,
    );
  await trust.keep(res, state, checkedAt);
}

async function isConfirmed(holder: Parameters<typeof requireConfirmed>[0], confirm: ConfirmKey): Promise<boolean> {
  try {
    await requireConfirmed(holder, confirm);
    return true;
  } catch (error) {
    if (error instanceof CofferError && error.code === "access_denied") return false;
    throw error;
  }
}
