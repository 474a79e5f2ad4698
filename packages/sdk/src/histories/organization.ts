import { inviteTokenPrefix, newId, newInviteToken, readInviteToken } from "@coffer/crypto";
import { cutName, holderOf, isEmail, makeInvitation, readEntry, sign } from "@coffer/history";
import type { Cut, HistoryPermission, HistoryState, Resource } from "@coffer/history";
import { askedFor } from "../asked-for.ts";
import { CofferError } from "../errors.ts";
import type { PersonSession } from "../person-session.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import type { InviteView, MemberView, OrganizationView, Role } from "../views.ts";
import { memberIn } from "./confirmed-key.ts";
import { deadInviteTags } from "./dead-tags.ts";
import { rememberEnded } from "./ended.ts";
import { understoodHistory } from "./history-failure.ts";
import { join } from "./join-folder.ts";
import type { PersonTrust } from "./person-trust.ts";
import { invitedEntries } from "./read-entries.ts";
import type { Self } from "./self.ts";

type Send = (request: ApiRequest) => Promise<ApiAnswer>;

/** What a role may do by an organization's history. */
export function permissionOfRole(role: Role): HistoryPermission {
  return role === "owner" || role === "admin" ? "manage" : "read";
}

/** Signs entry 0 of an organization's history, of which the caller is the one manager so far. */
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

/** Makes an organization under an id made here, whose history begins with the caller as the one manager. */
export async function createOrganization(
  send: Send,
  trust: PersonTrust,
  { user }: PersonSession,
  name: string,
): Promise<OrganizationView> {
  const id = newId();
  const { text, state } = await firstOrganizationEntry(await trust.self(), id, name, user.email);
  const answer = await send({ method: "POST", path: "/api/orgs", body: { name, id, entry: text } });
  const made = askedFor<OrganizationView>(answer, { id });
  await trust.keep(`org:${id}`, state);
  return made;
}

/**
 * Invites a person by an invitation that is made here: the service gets its hash, and in the history a join key that only the
 * invited person can open. Returns the text for that person, which cannot be had again. Throws CofferError `invalid_request`
 * for what is no e-mail address.
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
      change: { invite: [invitation], drop: await deadInviteTags(send, before) },
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

/** Makes a request with the fields that prove the password: joining while travelling needs them. */
export type ProveJoin = <T>(request: (fields: object) => Promise<T>) => Promise<T>;

/**
 * Joins the organization of an invitation: its history is verified from the beginning, and pinned from the invitation on. An
 * invitation that the service made, of an organization without a history, is accepted as it is.
 * Throws CofferError `join_invalid` for an invitation that the history does not have, `history_forked` or `history_rolled_back`
 * when one of the person's devices knows another history of that organization.
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
  // The first entry says which organization it is; everything else of it is verified below.
  const res = await understoodHistory(invitedTo(read));
  let joined: OrganizationView | undefined;
  const trusted = await join(
    read,
    res,
    await trust.self(),
    { tag: tokenHash, wrapKey },
    session.user.email,
    async (entry) => {
      const answer = await accept({ token, entry });
      joined = askedFor<OrganizationView>(answer, { id: res.slice("org:".length) });
      return answer;
    },
    await trust.histories.learned(res),
  );
  if (trusted?.state == null)
    throw new CofferError("no_history", "the organization has no history that could be joined");
  await trust.keep(res, trusted.state);
  if (joined !== undefined) return joined;
  const headers = { "x-coffer-org": res.slice("org:".length) };
  return (await send({ method: "GET", path: "/api/org", headers })).body as OrganizationView;
}

/** Changes a member's role or status, with an entry when the role changes what the history says. */
export async function updateMember(
  send: Send,
  trust: PersonTrust,
  userId: string,
  change: { role?: Role | undefined; status?: MemberView["status"] | undefined },
): Promise<MemberView> {
  const path = `/api/org/members/${encodeURIComponent(userId)}`;
  const update = async (entry: string | undefined): Promise<MemberView> =>
    askedFor<MemberView>(await send({ method: "PATCH", path, body: { ...change, entry } }), {
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

/** What a removal leaves for managers to sign. */
export interface Removal {
  /** Whether the organization's history says that the person is no member; else an owner or admin is to sign it. */
  signed: boolean;
  /** Names of folders and vaults whose histories name the person until they are rotated. */
  rotate: { kind: "folder" | "vault"; id: string; name: string }[];
}

/** Entries of a `cut` that fit into one entry of at most 64 KiB. */
const cutsInEntry = 250;

/**
 * Ends a person's membership, and signs at once that the history says so, with how far the person's signatures count in every
 * folder and vault. A caller who leaves, or may not sign, leaves that to an owner or admin.
 */
export async function removeMember(send: Send, trust: PersonTrust, userId: string, force: boolean): Promise<Removal> {
  const { state } = await trust.organization();
  const path = `/api/org/members/${encodeURIComponent(userId)}`;
  try {
    await send({ method: "DELETE", path, query: force ? { force: "true" } : undefined });
  } catch (error) {
    // One who was removed before, and whose end an owner or admin is yet to sign.
    const isGone = error instanceof CofferError && error.status === 404 && !error.foreign;
    if (!isGone || holderOf(state, `user:${userId}`) === undefined) throw error;
  }
  const { who } = await trust.self();
  const removed = `user:${userId}` as const;
  const rotate = await stillNaming(trust, removed);
  await rememberEnded(trust.histories, removed, (res) => rotate.some(({ kind, id }) => res === `${kind}:${id}`));
  const leaves = who === removed;
  if (leaves)
    await trust.histories.changeRecord((before) =>
      state.res === `org:${before.organization ?? ""}` ? { ...before, organization: undefined } : before,
    );
  if (leaves || holderOf(state, who)?.perm !== "manage") return { signed: false, rotate };
  return { signed: await signRemoval(send, trust, state, userId).catch(isAway), rotate };
}

/** The access has ended: what could not be signed now is signed another time. */
function isAway(error: unknown): false {
  if (error instanceof CofferError && (error.code === "unavailable" || error.code === "network")) return false;
  throw error;
}

/** Signs the drop of a person who is a member no more. Returns false when the history does not name the person. */
export async function signRemoval(
  send: Send,
  trust: PersonTrust,
  { res }: HistoryState,
  userId: string,
): Promise<boolean> {
  const who = `user:${userId}` as const;
  const cuts = Object.entries(await verifiedHeads(trust, await headsOf(send, userId)));
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

/** The newest entries as the service names them; of a history that is known here as it was verified. */
async function verifiedHeads(trust: PersonTrust, heads: Cut): Promise<Cut> {
  const { resources } = await trust.histories.record();
  const verified: Cut = { ...heads };
  for (const name of Object.keys(resources)) {
    const res = name as Resource; // a record has the names of histories
    const cut = await cutName(res);
    if (res.startsWith("org:") || !Object.hasOwn(heads, cut)) continue;
    try {
      const { pin } = await trust.histories.newest(res);
      verified[cut] = [pin.seq, pin.hash];
    } catch (error) {
      // What the caller does not hold any more is somebody else's to verify.
      const isGone = error instanceof CofferError && (error.code === "not_found" || error.code === "access_denied");
      if (!isGone) throw error;
    }
  }
  return verified;
}

/** The folders and vaults that the caller knows whose histories name a holder. */
export async function stillNaming(trust: PersonTrust, who: string): Promise<Removal["rotate"]> {
  const { resources } = await trust.histories.record();
  return Object.values(resources).flatMap(({ state, accepted }) => {
    if (state === null || !accepted || state.org === null || holderOf(state, who) === undefined) return [];
    const [kind, id] = state.res.split(":") as ["folder" | "vault", string];
    return [{ kind, id, name: state.name }];
  });
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

/** An e-mail address as accounts have it. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}
