import { holderOf } from "@coffer/history";
import { CofferError, type CofferErrorCode } from "../errors.ts";
import { holderParts } from "../histories/holder-parts.ts";
import { endedHolders } from "../histories/next-key.ts";
import type { Send } from "../http/transport.ts";
import { dataOf } from "../http/list-answer.ts";
import { confirmedKey } from "../trust/confirmed-key.ts";
import type { PersonTrust } from "../trust/person-trust.ts";
import type { HolderView } from "../views.ts";

/** A member or machine of a folder. */
export type FolderMember = Pick<HolderView, "kind" | "id" | "name" | "permission"> & {
  /**
   * Why it has no key: `holder_unconfirmed` when no history confirms its key, `key_pending` until a
   * manager seals it; otherwise null.
   */
  problem: Extract<CofferErrorCode, "holder_unconfirmed" | "key_pending"> | null;
  /** Whether the service does not list it, and the history names it until the next rotation. */
  ended: boolean;
};

/**
 * The members and machines of a folder, with the e-mails and permissions of the histories, and
 * those that its history names and the service does not list. Without a history the service's list.
 */
export async function folderMembers(send: Send, trust: PersonTrust, id: string): Promise<FolderMember[]> {
  const path = `/api/org/folders/${encodeURIComponent(id)}/members`;
  const listed = dataOf<HolderView>(await send({ method: "GET", path }));
  const pendingOf = ({ has_key: hasKey }: HolderView): FolderMember["problem"] =>
    hasKey === false ? "key_pending" : null;
  const found = await trust.histories.withOrganization(`folder:${id}`).catch((error: unknown) => {
    if (error instanceof CofferError && error.code === "no_history") return undefined;
    throw error;
  });
  if (found === undefined)
    return listed.map((view) => {
      const { kind, id: holder, name, permission } = view;
      return { kind, id: holder, name, permission, problem: pendingOf(view), ended: false };
    });
  const { trusted, organization } = found;
  const { state } = trusted;
  const named = listed.map(async (view): Promise<FolderMember> => {
    const { kind, id: holder } = view;
    const who = `${kind}:${holder}`;
    const { email: name = view.name } = holderOf(organization, who) ?? {};
    const { perm: permission = view.permission } = holderOf(state, who) ?? {};
    const isConfirmed = (await confirmedKey(organization, trusted, who)) !== undefined;
    const problem = isConfirmed ? pendingOf(view) : "holder_unconfirmed";
    return { kind, id: holder, name, permission, problem, ended: false };
  });
  const ended = endedHolders(state, listed).map((who): FolderMember => {
    const { kind, id: holder } = holderParts(who);
    const { email: name = holder } = holderOf(organization, who) ?? {};
    return { kind, id: holder, name, permission: holderOf(state, who)?.perm ?? "read", problem: null, ended: true };
  });
  return [...(await Promise.all(named)), ...ended];
}
