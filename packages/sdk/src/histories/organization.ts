import type { Permission, Role } from "@coffer/contract";
import { inviteTokenPrefix, newId, newInviteToken, readInviteToken } from "@coffer/crypto";
import {
  type Cut,
  cutName,
  type Head,
  HistoryError,
  type HistoryState,
  holderOf,
  isEmail,
  makeInvitation,
  openInvitation,
  readEntry,
  type Resource,
  sign,
} from "@coffer/history";
import { CofferError } from "../errors.ts";
import { isUuid, requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer, Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { dataOf, namedItems } from "../secrets/secret-store.ts";
import { labelOf, memberIn } from "../trust/confirmed-key.ts";
import { rememberEnded } from "../trust/ended.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { FolderView, InviteView, MemberView, OrganizationView } from "../views.ts";
import { deadInviteTags } from "./dead-tags.ts";
import { understoodHistory } from "./history-failure.ts";
import { join } from "./join-folder.ts";
import { invitedEntries } from "./read-entries.ts";
import type { Self } from "./self.ts";
import { shownAt } from "./send-signed.ts";
import { walk } from "./walk.ts";

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
 * Invites a person with a client-made invitation. The service gets its hash, and the history a join
 * key that only the invitation opens. Returns the text for the invited person, once. Throws
 * CofferError `invalid_request` for a malformed e-mail address.
 */
export async function inviteMember(
  send: Send,
  trust: PersonTrust,
  email: string,
  role: Role,
): Promise<InviteView & { token: string }> {
  const address = canonicalEmail(email);
  if (!isEmail(address)) throw new CofferError("invalid_request", `${email} is not an e-mail address`);
  const token = newInviteToken();
  const { tokenHash, wrapKey } = await readInviteToken(token);
  const { state } = await trust.organization();
  const invite = await trust.sign(state.res, async ({ state: before }) => {
    const request = { tag: tokenHash, wrapKey, kind: "user", perm: permissionOfRole(role), email: address };
    const invitation = await makeInvitation(before, before.res, { ...request, kind: "user" });
    return {
      change: { invite: [invitation], drop: await deadInviteTags(send, before, address) },
      async send(entry) {
        const body = { email, role, token_hash: tokenHash, entry };
        const { status, body: made } = await send({ method: "POST", path: "/api/org/invites", body });
        if (typeof (made as { id?: unknown } | undefined)?.id === "string") return made as InviteView;
        throw new CofferError("bad_answer", "the service does not say that the invitation was made", { status });
      },
    };
  });
  return { ...invite, token };
}

/**
 * Sends a request with the fields that prove the password, which joining needs while travelling.
 */
export type ProveJoin = <T>(request: (fields: object) => Promise<T>) => Promise<T>;

/**
 * Joins the organization of an invitation: verifies its history from the start and pins it from
 * the invitation on. An invitation that the service made, to an organization without a history, is
 * accepted without verification. Throws CofferError `join_invalid` for an invitation that the
 * history does not have, `history_forked` or `history_rolled_back` when one of the person's devices
 * knows another history of that organization.
 */
export async function acceptInvitation(
  send: Send,
  trust: PersonTrust,
  session: PersonSession,
  text: string,
  prove: ProveJoin = (request) => request({}),
): Promise<OrganizationView> {
  const accept = (body: object): Promise<ApiAnswer> =>
    prove((fields) => send({ method: "POST", path: "/api/org/invites/accept", body: { ...body, ...fields } }));
  if (!text.startsWith(inviteTokenPrefix)) return (await accept({ token: text })).body as OrganizationView;
  const { token, tokenHash, wrapKey } = await understoodInvitation(text);
  const read = invitedEntries(send, token);
  // The first entry names the organization. Everything else of it is verified below.
  const res = await understoodHistory(invitedTo(read));
  let joined: OrganizationView | undefined;
  const known = await trust.histories.learned(res);
  const trusted = await join(
    read,
    res,
    await trust.self(),
    { tag: tokenHash, wrapKey },
    session.user.email,
    async (entry) => {
      const answer = await acceptedJoin(trust, entry, () => accept({ token, entry }));
      joined = requireRequested<OrganizationView>(answer, { id: res.slice("org:".length) });
      return answer;
    },
    known,
  );
  if (trusted?.state == null)
    throw new CofferError("no_history", "the organization has no history that could be joined");
  // This device may have missed who left before its person returned.
  if (known?.state != null) await trust.histories.newest(res);
  await trust.keep(res, trusted.state);
  if (joined !== undefined) return joined;
  const headers = { "x-coffer-org": res.slice("org:".length) };
  return (await send({ method: "GET", path: "/api/org", headers })).body as OrganizationView;
}

/**
 * Sends a person's join, and reads it back: an entry that this device pins and the service does not
 * have would lock it out of the organization. Sends it once more if the service does not show it.
 * Throws CofferError `bad_answer` when the service twice acknowledges a join that it does not show.
 */
async function acceptedJoin(
  { histories: { read } }: PersonTrust,
  entry: string,
  send: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const { claims, hash } = await readEntry(entry);
  const isShown = async (): Promise<boolean> =>
    (await shownAt(read, claims.res, { seq: claims.seq, hash })) === "entry";
  let answer = await send();
  if (await isShown()) return answer;
  try {
    answer = await send();
  } catch (error) {
    // The first request may have been stored, and hidden once.
    if (await isShown()) return answer;
    throw error;
  }
  if (await isShown()) return answer;
  throw new CofferError("bad_answer", "the service acknowledges the join and does not show it: try again");
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

/** The follow-up work of a removal for managers. */
export interface Removal {
  /**
   * Whether the organization's history records the removal. If not, an owner or admin must sign it.
   */
  signed: boolean;
  /** The folders and vaults whose histories name the person until they are rotated. */
  rotate: { kind: "folder" | "vault"; id: string; name: string }[];
}

/** The entries of a `cut` that fit into one history entry of at most 64 KiB. */
const cutsInEntry = 250;

/**
 * Ends a person's membership, and signs it at once with how far the person's signatures count in
 * every folder and vault. A caller who leaves, or may not sign, leaves the signature to an owner or
 * admin.
 * @param readHistories reads those of the caller's folders and vaults: one that this device does not know would be
 * missing from the result
 */
export async function removeMember(
  send: Send,
  trust: PersonTrust,
  userId: string,
  { force, readHistories }: { force: boolean; readHistories: () => Promise<unknown> },
): Promise<Removal> {
  const { state } = await trust.organization();
  await readHistories().catch(isAway);
  const path = `/api/org/members/${encodeURIComponent(userId)}`;
  try {
    await send({ method: "DELETE", path, query: force ? { force: "true" } : undefined });
  } catch (error) {
    // A person who was removed before, and whose removal is not signed yet.
    const isGone = error instanceof CofferError && error.status === 404 && !error.foreign;
    if (!isGone || holderOf(state, `user:${userId}`) === undefined) throw error;
  }
  const { who } = await trust.self();
  const removed = `user:${userId}` as const;
  const rotate = await stillNaming(trust, removed, state.res);
  await rememberEnded(trust.histories, removed, (res) => rotate.some(({ kind, id }) => res === `${kind}:${id}`));
  const leaves = who === removed;
  if (leaves)
    await trust.histories.changeRecord((before) =>
      state.res === `org:${before.organization ?? ""}` ? { ...before, organization: undefined } : before,
    );
  if (leaves || holderOf(state, who)?.perm !== "manage") return { signed: false, rotate };
  return { signed: await signRemoval(send, trust, state, userId).catch(isAway), rotate };
}

/** Ending the access must not wait for the rest: the removal can be repeated to sign it. */
function isAway(error: unknown): false {
  if (error instanceof CofferError && (error.code === "unavailable" || error.code === "network")) return false;
  throw error;
}

/** Signs the drop of a former member. Returns false when the history does not name the person. */
export async function signRemoval(
  send: Send,
  trust: PersonTrust,
  organization: HistoryState,
  userId: string,
): Promise<boolean> {
  const { res } = organization;
  const who = `user:${userId}` as const;
  const cuts = Object.entries(await verifiedHeads(send, trust, organization, userId));
  let done = false;
  for (let from = 0; from === 0 || from < cuts.length; from += cutsInEntry) {
    done = await trust.sign(res, async ({ state }) => {
      const isFirst = from === 0;
      if (isFirst && holderOf(state, who) === undefined)
        return { change: undefined, send: () => Promise.resolve(false) };
      const drop = [who, ...(isFirst ? await deadInviteTags(send, state) : [])];
      return {
        change: { drop, cut: Object.fromEntries(cuts.slice(from, from + cutsInEntry)) },
        async send(entry) {
          await send({ method: "POST", path: "/api/org/history", body: { entry } });
          return true;
        },
      };
    });
    if (!done) return false;
  }
  return done;
}

async function headsOf(send: Send, userId: string): Promise<Cut> {
  const { body } = await send({ method: "GET", path: `/api/org/members/${encodeURIComponent(userId)}/heads` });
  return ((body ?? {}) as { data?: Cut }).data ?? {}; // the entry that it goes into is checked before it is sent
}

/**
 * How far a person's signatures count in each folder and vault: verified here where the caller
 * knows the history, or may read a folder's. A history that this device knows and the service does
 * not show is left out: devices then stop at their pins. For other vaults only the service's answer
 * exists; `restateCut` corrects a wrong one.
 */
async function verifiedHeads(send: Send, trust: PersonTrust, organization: HistoryState, userId: string): Promise<Cut> {
  const cut = await headsOf(send, userId);
  const known = await knownHeads(trust, organization.res, `user:${userId}`, cut);
  const folders = namedItems<FolderView>(dataOf(await send({ method: "GET", path: "/api/org/folders" })));
  for (const { id } of folders.filter((folder) => isUuid(folder.id))) {
    const res = `folder:${id}` as const;
    const name = await cutName(res);
    if (known.has(name) || !Object.hasOwn(cut, name)) continue;
    known.set(name, await shownHead(trust, res, organization));
  }
  // Without a valid history the service's entry does not count.
  for (const [name, head] of known)
    if (head === undefined) Reflect.deleteProperty(cut, name);
    else cut[name] = [head.seq, head.hash];
  return cut;
}

/**
 * The newest entries of an organization's folders and vaults that this device knows, by their names
 * in a `cut`; undefined for one that the service does not show.
 */
async function knownHeads(
  trust: PersonTrust,
  org: Resource,
  who: string,
  heads: Cut,
): Promise<Map<string, Head | undefined>> {
  const { resources } = await trust.histories.record();
  const known = new Map<string, Head | undefined>();
  for (const [key, { state }] of Object.entries(resources)) {
    const res = key as Resource; // a record has the names of histories
    const name = await cutName(res);
    const concerns = Object.hasOwn(heads, name) || (state !== null && concernsPerson(state, who));
    if (res.startsWith("org:") || !concerns || (state !== null && `org:${state.org ?? ""}` !== org)) continue;
    try {
      known.set(name, (await trust.histories.newest(res)).pin);
    } catch (error) {
      // The caller's access may have ended.
      const isGone = error instanceof CofferError && (error.code === "not_found" || error.code === "access_denied");
      if (!isGone) throw error;
      known.set(name, undefined);
    }
  }
  return known;
}

function concernsPerson({ holders, signers }: HistoryState, person: string): boolean {
  return [...holders, ...signers].some(({ who }) => who === person);
}

/**
 * The newest entry of a folder that the caller does not use, verified from entry 0 and against the
 * organization's history; undefined for a history that does not hold.
 */
async function shownHead(
  { histories }: PersonTrust,
  res: Resource,
  organization: HistoryState,
): Promise<Head | undefined> {
  try {
    return (await histories.examine(res, organization))?.head;
  } catch (error) {
    const isShown = error instanceof CofferError && (error.code === "network" || error.code === "unavailable");
    if (isShown || !(error instanceof CofferError || error instanceof HistoryError)) throw error;
    return undefined;
  }
}

/**
 * Corrects how far a former member's signatures count in one folder or vault, where the service
 * named a wrong entry at the removal. An owner or admin signs it; the folder or vault is not read.
 * @param entry the newest entry that its users have verified; by default this device's
 * @throws CofferError `invalid_request` for a current member, or without an entry; `not_found` for
 * a person who was never removed
 */
export async function restateCut(
  send: Send,
  trust: PersonTrust,
  userId: string,
  res: Resource,
  entry?: Head,
): Promise<Head> {
  const who = `user:${userId}` as const;
  const requireFormer = ({ holders, former }: HistoryState): void => {
    if (holders.some((holder) => holder.who === who))
      throw new CofferError("invalid_request", `${userId} is a member: a removal states how far the signatures count`);
    if (!former.some((one) => one.who === who))
      throw new CofferError("not_found", `the organization's history names no former member ${userId}`);
  };
  const organization = (await trust.organization()).state;
  requireFormer(organization);
  const { seq, hash } = entry ?? (await trust.histories.known(res))?.pin ?? unknownEntry(res);
  const cut = { [await cutName(res)]: [seq, hash] as [number, string] };
  await trust.sign(organization.res, ({ state }) => {
    // The drop of a person who has returned meanwhile would be a removal.
    requireFormer(state);
    return Promise.resolve({
      change: { drop: [who], cut },
      send: (text) => send({ method: "POST", path: "/api/org/history", body: { entry: text } }),
    });
  });
  return { seq, hash };
}

function unknownEntry(res: Resource): never {
  throw new CofferError(
    "invalid_request",
    `this device has verified nothing of ${res}: give the number and hash of the entry`,
  );
}

/**
 * The caller's folders and vaults whose histories name a member or machine.
 * @param org only those of this organization, for a person who may be in another one too
 */
export async function stillNaming(trust: PersonTrust, who: string, org?: Resource): Promise<Removal["rotate"]> {
  const found = (await named(trust, org)).filter(({ holders }) => holders.includes(who));
  return found.map(({ kind, id, name }) => ({ kind, id, name }));
}

/** An accepted folder or vault, and whom its history names: `user:<id>`, `client:<id>`. */
export interface Named {
  kind: "folder" | "vault";
  id: string;
  name: string;
  holders: string[];
}

/** The accepted folders and vaults that this device knows. */
export async function named(trust: PersonTrust, org?: Resource): Promise<Named[]> {
  const { resources } = await trust.histories.record();
  return Object.values(resources).flatMap(({ state, accepted }) => {
    if (state === null || !accepted || state.org === null) return [];
    if (org !== undefined && org !== `org:${state.org}`) return [];
    const [kind, id] = state.res.split(":") as ["folder" | "vault", string];
    return [{ kind, id, name: state.name, holders: state.holders.map(({ who }) => who) }];
  });
}

/** An invitation as the signed history of its organization has it. */
export interface ShownInvitation {
  organization: { id: string; name: string };
  /** The e-mail of the inviting member. */
  from: string;
  /** The e-mail that the invitation is for. */
  email: string | undefined;
}

/**
 * The organization of an invitation and who has made it, verified from entry 0 of the history: only the maker of the
 * invitation can have sealed its join key into that entry. Stores and sends nothing. Throws CofferError `no_history` for an
 * invitation that the service has made, `join_invalid`, and what reading a history throws.
 */
export async function shownInvitation(send: Send, trust: PersonTrust, text: string): Promise<ShownInvitation> {
  if (!text.startsWith(inviteTokenPrefix))
    throw new CofferError("no_history", "the service has made this invitation: no history says from whom it is");
  const { token, tokenHash, wrapKey } = await understoodInvitation(text);
  const read = invitedEntries(send, token);
  const res = await understoodHistory(invitedTo(read));
  const known = await trust.histories.learned(res);
  const before = known === undefined ? undefined : { ...known, state: null };
  const { who } = await trust.self();
  const walked = await understoodHistory(walk(read, res, who, before));
  if (walked === null) throw new CofferError("no_history", "the organization has no history that could be joined");
  const { state } = walked;
  const invitation = state.invitations.find(({ tag }) => tag === tokenHash);
  await understoodHistory(openInvitation(res, invitation, wrapKey));
  const by = invitation?.by ?? "";
  return {
    organization: { id: res.slice("org:".length), name: state.name },
    from: labelOf(state, by),
    email: invitation?.email,
  };
}

async function invitedTo(read: ReturnType<typeof invitedEntries>): Promise<Resource> {
  const { entries } = await read("org:", undefined);
  const first = entries[0] === undefined ? undefined : await readEntry(entries[0]);
  if (first?.claims.res.startsWith("org:") === true) return first.claims.res;
  throw new CofferError("join_invalid", "the service shows no history of an organization for this invitation");
}

async function understoodInvitation(text: string): ReturnType<typeof readInviteToken> {
  try {
    return await readInviteToken(text.trim());
  } catch (cause) {
    throw new CofferError("invalid_request", (cause as Error).message, { cause });
  }
}

/** The canonical form of an e-mail address, as accounts have it. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}
