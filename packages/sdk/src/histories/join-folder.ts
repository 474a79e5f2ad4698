import { holderOf, openInvitation, readEntry, type Resource, sign } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { ApiAnswer, Send } from "../http/transport.ts";
import type { Trusted } from "../trust/trust-storage.ts";
import { historyFailure } from "./history-failure.ts";
import type { ReadEntries } from "./read-entries.ts";
import type { Self } from "./self.ts";
import { shownAt } from "./send-signed.ts";
import { walk } from "./walk.ts";

/** The parsed token of an invited person or machine. */
export interface JoinToken {
  /** Hex SHA-256 of the token. */
  tag: string;
  /** Opens the private join key of the invitation. */
  wrapKey: Uint8Array;
  /** Whether an invitation of this person counts. Default: every one does. */
  trusts?: (maker: NonNullable<Trusted["given"]>) => Promise<boolean>;
}

/** How often a join is signed again after a concurrent entry. */
const rounds = 8;

/**
 * Joins a history with an invitation: verifies the history from entry 0, opens the join key, and
 * sends the entry that sets the caller. Finds a join that was stored before and whose response was
 * lost. Returns the state to trust from then on; undefined where there is no history. A history
 * that names the caller already counts only if it has the invitation, because anyone can sign a
 * history with the caller's public key. What is known of the history must be part of it, because
 * anyone can make an invitation to their own history under a known id. Throws CofferError
 * `join_invalid` when the history does not have the invitation or its maker is not trusted, and
 * what reading a history throws.
 */
export async function join(
  read: ReadEntries,
  res: Resource,
  self: Self,
  token: JoinToken,
  email: string | undefined,
  send: (entry: string) => Promise<ApiAnswer>,
  known?: Trusted,
): Promise<Trusted | undefined> {
  // The whole history is read, because the invitation may be in any entry.
  const before = known === undefined ? undefined : { ...known, state: null };
  for (let round = 1; ; round += 1) {
    try {
      const walked = await walk(read, res, self.who, before);
      if (walked === null) return undefined;
      const { state, given, joinedBy, formerManagers: former_managers, departures: missed } = walked;
      const invitation = [...state.invitations, joinedBy].find((one) => one?.tag === token.tag);
      const joinKey = await openInvitation(res, invitation, token.wrapKey);
      const by = invitation === undefined ? undefined : { by: invitation.by, key: invitation.by_key };
      if (by !== undefined && (await token.trusts?.(by)) === false)
        throw new CofferError(
          "join_invalid",
          `the invitation to ${res} is from ${by.by}, who manages no folder that this machine has: a manager gives it to the machine`,
        );
      if (holderOf(state, self.who)?.key === self.publicKey)
        return { pin: state.head, state, accepted: true, given, former_managers, missed };
      if (invitation?.email !== email)
        throw new CofferError("access_denied", "the invitation is for another e-mail address");
      const perm = invitation?.perm ?? "read";
      const holder = { who: self.who, key: self.publicKey, perm, ...(email === undefined ? {} : { email }) };
      const signed = await sign(state, res, `invite:${token.tag}`, joinKey, { set: [holder] });
      await send(signed.text);
      return { pin: signed.state.head, state: signed.state, accepted: true, given: by, former_managers, missed };
    } catch (error) {
      const overtaken = error instanceof CofferError && error.code === "conflict" && round < rounds;
      if (!overtaken) throw historyFailure(error);
    }
  }
}

/**
 * Sends a machine's join, and reads it back: an entry that the machine pins and the service does not
 * have would lock the machine out. Throws CofferError `conflict` when the service does not show it.
 */
export function folderJoin(read: ReadEntries, send: Send, folderId: string): (entry: string) => Promise<ApiAnswer> {
  return async (entry) => {
    const answer = await send({ method: "POST", path: `/api/sm/v1/folders/${folderId}/history`, body: { entry } });
    const { claims, hash } = await readEntry(entry);
    if ((await shownAt(read, claims.res, { seq: claims.seq, hash })) === "entry") return answer;
    throw new CofferError(
      "conflict",
      `the service does not show the entry with which this machine joined ${claims.res}`,
    );
  };
}
