import type { HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import type { ApplicationView, HolderView, InviteView, TokenView } from "../views.ts";
type Open = HistoryState["invitations"][number];

/**
 * So many invitations are dropped with one entry: 7 KB, beside at most 250 cuts or 600 holders in an
 * entry of 64 KiB. The next entry drops others.
 */
export const mostDropped = 100;

/**
 * The invitations of a folder's history whose tokens are expired or revoked, or whose machine is
 * gone, in the form of `drop`. The invitation of a machine that has spent its token and has not
 * joined yet stays. A caller who may not list the tokens drops none; the next manager does.
 */
export async function deadTokenTags(send: Send, state: HistoryState): Promise<string[]> {
  const { invitations } = state;
  const tags = await dead(invitations, async () => {
    const applications = dataOf<ApplicationView>(await send({ method: "GET", path: "/api/org/applications" }));
    const lists = applications.map(async ({ id }) => {
      const path = `/api/org/applications/${encodeURIComponent(id)}/tokens`;
      return dataOf<TokenView>(await send({ method: "GET", path }));
    });
    const tokens = (await Promise.all(lists)).flat();
    const isSpent = ({ status, tag }: TokenView): boolean =>
      status === "used" && invitations.some((one) => one.tag === tag);
    const joining = tokens.some(isSpent) && (await hasJoining(send, state));
    return tokens.filter((token) => token.status === "unused" || (joining && isSpent(token)));
  });
  return tags.slice(0, mostDropped);
}

/** Whether the service lists a machine that the folder's history does not name. */
async function hasJoining(send: Send, { res, holders }: HistoryState): Promise<boolean> {
  const path = `/api/org/folders/${res.slice("folder:".length)}/members`;
  const listed = dataOf<HolderView>(await send({ method: "GET", path }));
  return listed.some(({ kind, id }) => kind === "client" && !holders.some(({ who }) => who === `client:${id}`));
}

/**
 * Does the same for an organization's history, by its open invitations. It includes invitations to
 * members, and to `invited`, the e-mail address that the next entry invites again: with one that
 * the service keeps, a removed person could return.
 */
export async function deadInviteTags(
  send: Send,
  { invitations, holders }: HistoryState,
  invited?: string,
): Promise<string[]> {
  const isReplaced = ({ email }: Open): boolean => email === invited || holders.some((one) => one.email === email);
  const replaced = invitations.filter(isReplaced).map(tagOf);
  const others = invitations.filter((one) => !isReplaced(one));
  const list = async () => dataOf<InviteView>(await send({ method: "GET", path: "/api/org/invites" }));
  return [...replaced, ...(await dead(others, list))].slice(0, mostDropped);
}

async function dead(
  open: readonly Open[],
  list: () => Promise<readonly { tag?: string | null | undefined }[]>,
): Promise<string[]> {
  if (open.length === 0) return [];
  let alive: Set<string | null | undefined>;
  try {
    alive = new Set((await list()).map(({ tag }) => tag));
  } catch (error) {
    if (error instanceof CofferError && error.code === "access_denied") return [];
    throw error;
  }
  return open.filter(({ tag }) => !alive.has(tag)).map(tagOf);
}

function tagOf({ tag }: Open): string {
  return `invite:${tag}`;
}
