import { type HistoryState, isManager, type Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../secrets/secret-store.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { InviteView, TokenView } from "../views.ts";
import { personHistoryPath } from "./read-entries.ts";

/** An invitation that a history no longer has open. */
export interface ClosedInvitation {
  res: Resource;
  /** Of the organization or folder, from its history. */
  name: string;
  /** The invited person, from the organization's history; null for a machine. */
  email: string | null;
}

/**
 * Revokes a person's invitation, and signs at once that the organization's history has it no longer
 * open: a service that keeps it could let the person join. Also closes other open invitations to its
 * e-mail. Returns what was closed.
 */
export async function removeInvitation(send: Send, trust: PersonTrust, id: string): Promise<ClosedInvitation[]> {
  const listed = dataOf(await send({ method: "GET", path: "/api/org/invites" })) as InviteView[];
  const invite = listed.find((one) => one.id === id);
  await send({ method: "DELETE", path: `/api/org/invites/${encodeURIComponent(id)}` });
  const organization = await trust.organization().catch(withoutHistory);
  if (organization === undefined || invite === undefined) return [];
  return close(send, trust, organization.state.res, ({ tag, email }) => tag === invite.tag || email === invite.email);
}

/** Does the same for a machine's token, in each folder of it that the caller manages. */
export async function removeToken(
  send: Send,
  trust: PersonTrust,
  applicationId: string,
  id: string,
): Promise<ClosedInvitation[]> {
  const path = `/api/org/applications/${encodeURIComponent(applicationId)}/tokens`;
  const listed = dataOf(await send({ method: "GET", path })) as TokenView[];
  const token = listed.find((one) => one.id === id);
  await send({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}` });
  const closed: ClosedInvitation[] = [];
  const { resources } = await trust.histories.record();
  for (const { state, accepted } of Object.values(resources)) {
    if (state === null || !accepted || !state.res.startsWith("folder:")) continue;
    closed.push(...(await close(send, trust, state.res, ({ tag }) => tag === token?.tag)));
  }
  return closed;
}

type Open = HistoryState["invitations"][number];

async function close(
  send: Send,
  trust: PersonTrust,
  res: Resource,
  isMeant: (invitation: Open) => boolean,
): Promise<ClosedInvitation[]> {
  const known = (await trust.histories.known(res))?.state;
  const { who } = await trust.self();
  if (known == null || !known.invitations.some(isMeant) || !isManager(known, who)) return [];
  return trust.sign(res, ({ state }) => {
    const ended = state.invitations.filter(isMeant);
    const headers = res.startsWith("org:") ? { "x-coffer-org": res.slice("org:".length) } : undefined;
    return Promise.resolve({
      change: ended.length === 0 ? undefined : { drop: ended.map(({ tag }) => `invite:${tag}` as const) },
      async send(entry) {
        if (entry !== undefined) await send({ method: "POST", path: personHistoryPath(res), body: { entry }, headers });
        return ended.map(({ email = null }) => ({ res, name: state.name, email }));
      },
    });
  });
}

function withoutHistory(error: unknown): undefined {
  if (error instanceof CofferError && error.code === "no_history") return undefined;
  throw error;
}
