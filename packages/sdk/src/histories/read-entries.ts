import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { ApiAnswer, Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";

/** A page of a history, unverified. */
export interface HistoryPage {
  entries: string[];
  /** The number of the newest entry as the service states it; null without a history. */
  newest: number | null;
}

/** Reads the entries after a number, or from entry 0. */
export type ReadEntries = (res: Resource, after: number | undefined) => Promise<HistoryPage>;

/** The entries of a response. Throws CofferError `bad_answer` for a malformed page. */
export function pageOf(answer: ApiAnswer): HistoryPage {
  const entries = dataOf(answer);
  const { history_seq: newest } = (answer.body ?? {}) as { history_seq?: unknown };
  const known = newest === null || Number.isSafeInteger(newest);
  if (!known || !entries.every((entry) => typeof entry === "string"))
    throw new CofferError("bad_answer", "the service's answer is no page of a history", { status: answer.status });
  return { entries, newest: newest as number | null }; // looked at above
}

/** The path of a history for a person. */
export function personHistoryPath(res: Resource): string {
  const [kind = "", id = ""] = res.split(":");
  if (kind === "org") return "/api/org/history";
  return kind === "folder" ? `/api/org/folders/${id}/history` : `/api/vaults/${id}/history`;
}

/**
 * Reads histories as a person. An organization's history is requested by its own id, whatever the
 * chosen organization.
 */
export function personEntries(send: Send): ReadEntries {
  return async (res, after) => {
    const headers = res.startsWith("org:") ? { "x-coffer-org": res.slice("org:".length) } : undefined;
    return pageOf(await send({ method: "GET", path: personHistoryPath(res), query: { after }, headers }));
  };
}

/** Reads the histories of a machine's folders. */
export function machineEntries(send: Send): ReadEntries {
  return async (res, after) => {
    const path = `/api/sm/v1/folders/${res.slice("folder:".length)}/history`;
    return pageOf(await send({ method: "GET", path, query: { after } }));
  };
}

/** Reads an organization's history with an invitation. */
export function invitedEntries(send: Send, token: string): ReadEntries {
  return async (_res, after) =>
    pageOf(await send({ method: "POST", path: "/api/org/invites/history", body: { token, after }, repeatable: true }));
}
