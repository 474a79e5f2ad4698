import type { HistoryState } from "@coffer/history";
import { CofferError } from "../errors.ts";
import { dataOf } from "../secret-store.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import type { ApplicationView, InviteView, TokenView } from "../views.ts";

type Send = (request: ApiRequest) => Promise<ApiAnswer>;

/**
 * The invitations of a folder's history whose tokens are expired, revoked or used, as `drop` names them. Who may not list the
 * tokens drops none: the next manager does.
 */
export async function deadTokenTags(send: Send, { invitations }: HistoryState): Promise<string[]> {
  if (invitations.length === 0) return [];
  return dead(invitations, async () => {
    const applications = dataOf(await send({ method: "GET", path: "/api/org/applications" })) as ApplicationView[];
    const lists = applications.map(async ({ id }) => {
      const path = `/api/org/applications/${encodeURIComponent(id)}/tokens`;
      return dataOf(await send({ method: "GET", path })) as TokenView[];
    });
    return (await Promise.all(lists)).flat().filter(({ status }) => status === "unused");
  });
}

/** The same of an organization's history. */
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
