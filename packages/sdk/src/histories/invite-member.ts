import type { Role } from "@coffer/contract";
import { inviteTokenPrefix, newInviteToken, readInviteToken } from "@coffer/crypto";
import { isEmail, makeInvitation, openInvitation, readEntry, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { requireRequested } from "../http/require-requested.ts";
import type { ApiAnswer, Send } from "../http/transport.ts";
import type { PersonSession } from "../people/person-session.ts";
import { labelOf } from "../trust/confirmed-key.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { InviteView, OrganizationView } from "../views.ts";
import { deadInviteTags } from "./dead-tags.ts";
import { understoodHistory } from "./history-failure.ts";
import { join } from "./join-folder.ts";
import { permissionOfRole } from "./organization.ts";
import { invitedEntries } from "./read-entries.ts";
import { shownAt } from "./send-signed.ts";
import { walk } from "./walk.ts";

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
 * the invitation on. Returns it under the name of that history. An invitation that the service made, to an organization without a history, is
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
  const id = res.slice("org:".length);
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
      joined = requireRequested<OrganizationView>(answer, { id });
      return answer;
    },
    known,
  );
  if (trusted?.state == null)
    throw new CofferError("no_history", "the organization has no history that could be joined");
  // A person who returns has pins, on this device or in a keyring that the service shows later.
  await trust.histories.keep(res, (before) => ({ ...before, ...trusted }));
  await trust.share();
  const headers = { "x-coffer-org": id };
  const view =
    joined ?? requireRequested<OrganizationView>(await send({ method: "GET", path: "/api/org", headers }), { id });
  // The service could show the name of another organization.
  return { ...view, name: trusted.state.name };
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

/** An invitation as the signed history of its organization has it. */
export interface ShownInvitation {
  organization: { id: string; name: string };
  /** The e-mail of the inviting member. */
  from: string;
  /** The e-mail that the invitation is for. */
  email: string | undefined;
}

/**
 * The organization of an invitation and who has made it, verified from entry 0 of the history: only
 * the maker of the invitation can have sealed its join key into that entry. Stores and sends
 * nothing. Throws CofferError `no_history` for an invitation that the service has made,
 * `join_invalid`, and what reading a history throws.
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
