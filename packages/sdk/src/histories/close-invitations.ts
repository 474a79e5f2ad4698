import { type HistoryState, isManager, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { InviteView, TokenView } from "../views.ts";
import { deadTokenTags, mostDropped } from "./dead-tags.ts";
import { canonicalEmail } from "./invite-member.ts";
import { personHistoryPath } from "./read-entries.ts";

/** An invitation that a history no longer has open. */
export interface ClosedInvitation {
  res: Resource;
  /** Of the organization or folder, from its history. */
  name: string;
  /** The invited person, from the organization's history; null for a machine. */
  email: string | null;
  /** The service does not show the history, which may have it open still. */
  hidden?: true;
}

/**
 * Revokes a person's invitation, and signs at once that the organization's history has it no longer
 * open: a service that keeps it could let the person join. Also closes other open invitations to its
 * e-mail. Returns what was closed.
 * @param email what the person was shown: the service could list another invitation under the id now
 * @throws CofferError `not_found` without an e-mail from the caller or the service: the history may
 *   still have the invitation open, and `closeInvitations` closes it
 */
export async function removeInvitation(
  send: Send,
  trust: PersonTrust,
  id: string,
  email?: string,
): Promise<ClosedInvitation[]> {
  const listed = dataOf<InviteView>(await send({ method: "GET", path: "/api/org/invites" }));
  const invite = listed.find((one) => one.id === id);
  await send({ method: "DELETE", path: `/api/org/invites/${encodeURIComponent(id)}` });
  const organization = await trust.organization().catch(withoutHistory);
  const shown = email ?? invite?.email;
  if (organization === undefined) return [];
  if (shown === undefined)
    throw new CofferError(
      "not_found",
      `the service does not name the e-mail of the invitation ${id}. If it was open, the history of ` +
        `${organization.state.name} has it open still: close it by its e-mail, \`coffer invite rm <e-mail>\``,
    );
  const isMeant = (one: Open): boolean =>
    one.email === canonicalEmail(shown) || (email === undefined && one.tag === invite?.tag);
  return close(trust, send, organization.state.res, ({ invitations }) => tagsOf(invitations.filter(isMeant)));
}

/**
 * Signs that the organization's history has no invitation to an e-mail open any more, whatever the
 * service lists. Returns what was closed.
 */
export async function closeInvitations(send: Send, trust: PersonTrust, email: string): Promise<ClosedInvitation[]> {
  const { state } = await trust.organization();
  const address = canonicalEmail(email);
  return close(trust, send, state.res, ({ invitations }) => tagsOf(invitations.filter((one) => one.email === address)));
}

/**
 * Does the same for a machine's token, in each folder of it that the caller manages. A spent token
 * cannot be revoked, but its invitation may be open: its machine has not joined. Throws CofferError
 * `conflict` for a spent token without an open invitation.
 */
export async function removeToken(
  send: Send,
  trust: PersonTrust,
  applicationId: string,
  id: string,
): Promise<ClosedInvitation[]> {
  const path = `/api/org/applications/${encodeURIComponent(applicationId)}/tokens`;
  const listed = dataOf<TokenView>(await send({ method: "GET", path }));
  const token = listed.find((one) => one.id === id);
  let spent: CofferError | undefined;
  try {
    await send({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}` });
  } catch (error) {
    if (!(error instanceof CofferError && error.code === "conflict")) throw error;
    spent = error;
  }
  const closed = await closeInFolders(send, trust, ({ invitations }) =>
    tagsOf(invitations.filter(({ tag }) => tag === token?.tag)),
  );
  if (spent !== undefined && closed.length === 0) throw spent;
  return closed;
}

/**
 * Closes, in the folders that the caller manages, the invitations of machines that are gone. A
 * machine that was revoked before it joined could join later, together with the service.
 */
export function closeDeadInvitations(send: Send, trust: PersonTrust): Promise<ClosedInvitation[]> {
  return closeInFolders(send, trust, (state) => deadTokenTags(send, state));
}

type Open = HistoryState["invitations"][number];
/** Which of the open invitations are meant, in the form of `drop`. */
type Select = (state: HistoryState) => string[] | Promise<string[]>;

async function closeInFolders(send: Send, trust: PersonTrust, select: Select): Promise<ClosedInvitation[]> {
  const closed: ClosedInvitation[] = [];
  const { resources } = await trust.histories.record();
  for (const { state, accepted } of Object.values(resources)) {
    if (state === null || !accepted || !state.res.startsWith("folder:")) continue;
    const { res, name } = state;
    try {
      let more: ClosedInvitation[];
      do closed.push(...(more = await close(trust, send, res, select)));
      while (more.length === mostDropped);
    } catch (error) {
      // A deleted folder, or one that the service hides.
      const isGone = error instanceof CofferError && (error.code === "not_found" || error.code === "access_denied");
      if (!isGone) throw error;
      closed.push({ res, name, email: null, hidden: true });
    }
  }
  return closed;
}

async function close(trust: PersonTrust, send: Send, res: Resource, select: Select): Promise<ClosedInvitation[]> {
  const known = (await trust.histories.known(res))?.state;
  const { who } = await trust.self();
  if (known == null || !isManager(known, who) || (await select(known)).length === 0) return [];
  return trust.sign(res, async ({ state }) => {
    const drop = await select(state);
    const ended = state.invitations.filter(({ tag }) => drop.includes(`invite:${tag}`));
    const headers = res.startsWith("org:") ? { "x-coffer-org": res.slice("org:".length) } : undefined;
    return {
      change: drop.length === 0 ? undefined : { drop },
      async send(entry) {
        if (entry !== undefined) await send({ method: "POST", path: personHistoryPath(res), body: { entry }, headers });
        return ended.map(({ email = null }) => ({ res, name: state.name, email }));
      },
    };
  });
}

function tagsOf(invitations: readonly Open[]): string[] {
  return invitations.map(({ tag }) => `invite:${tag}`);
}

function withoutHistory(error: unknown): undefined {
  if (error instanceof CofferError && error.code === "no_history") return undefined;
  throw error;
}
