import type { HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { dataOf } from "../secrets/secret-store.ts";
import type { ApiAnswer, ApiRequest } from "../http/transport.ts";
import type { ApplicationView, HolderView, InviteView, TokenView } from "../views.ts";

type Send = (request: ApiRequest) => Promise<ApiAnswer>;

/**
 * The invitations of a folder's history whose tokens are expired or revoked, or whose machine is
 * gone, in the form of `drop`. The invitation of a machine that has spent its token and has not
 * joined yet stays. A caller who may not list the tokens drops none; the next manager does.
 */
export async function deadTokenTags(send: Send, state: HistoryState): Promise<string[]> {
  const { invitations } = state;
  if (invitations.length === 0) return [];
  return dead(invitations, async () => {
    const applications = dataOf(await send({ method: "GET", path: "/api/org/applications" })) as ApplicationView[];
    const lists = applications.map(async ({ id }) => {
      const path = `/api/org/applications/${encodeURIComponent(id)}/tokens`;
      return dataOf(await send({ method: "GET", path })) as TokenView[];
    });
    const tokens = (await Promise.all(lists)).flat();
    const isSpent = ({ status, tag }: TokenView): boolean =>
      status === "used" && invitations.some((one) => one.tag === tag);
    const joining = tokens.some(isSpent) && (await hasJoining(send, state));
    return tokens.filter((token) => token.status === "unused" || (joining && isSpent(token)));
  });
}

/** Whether the service lists a machine that the folder's history does not name. */
async function hasJoining(send: Send, { res, holders }: HistoryState): Promise<boolean> {
  const path = `/api/org/folders/${res.slice("folder:".length)}/members`;
  const listed = dataOf(await send({ method: "GET", path })) as HolderView[];
  return listed.some(({ kind, id }) => kind === "client" && !holders.some(({ who }) => who === `client:${id}`));
}

/** Does the same for an organization's history, by its open invitations. */
export async function deadInviteTags(send: Send, { invitations }: HistoryState): Promise<string[]> {
  if (invitations.length === 0) return [];
  return dead(invitations, async () => dataOf(await send({ method: "GET", path: "/api/org/invites" })) as InviteView[]);
}

async function dead(
  open: HistoryState["invitations"],
  list: () => Promise<readonly { tag?: string | null | undefined }[]>,
): Promise<string[]> {
  let alive: Set<string | null | undefined>;
  try {
    alive = new Set((await list()).map(({ tag }) => tag));
  } catch (error) {
    if (error instanceof CofferError && error.code === "access_denied") return [];
    throw error;
  }
  return open.filter(({ tag }) => !alive.has(tag)).map(({ tag }) => `invite:${tag}`);
}
