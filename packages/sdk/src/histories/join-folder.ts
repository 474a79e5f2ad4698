import { holderOf, openInvitation, sign } from "@coffer/history";
import type { Resource } from "@coffer/history";
import { CofferError } from "../errors.ts";
import type { ApiAnswer, ApiRequest } from "../transport.ts";
import { historyFailure } from "./history-failure.ts";
import type { ReadEntries } from "./read-entries.ts";
import type { Self } from "./self.ts";
import type { Trusted } from "./trust-storage.ts";
import { walk } from "./walk.ts";

/** The token that a newcomer was given, taken apart. */
export interface JoinToken {
  /** Hex SHA-256 of the token. */
  tag: string;
  /** Opens the private join key of the invitation. */
  wrapKey: Uint8Array;
}

/** How often a join is signed again because another entry came in between. */
const rounds = 8;

/**
 * Joins a history by an invitation: verifies it from entry 0, opens the join key, and sends the entry that sets the caller.
 * Returns what is to be trusted from then on; undefined where there is no history. A join that was stored before, and whose
 * answer was lost, is found. A history that names the caller already counts only if it has the invitation: anybody can sign
 * a history of their own with the caller's public key in it. What is trusted of the history before must be part of it: anybody
 * can make an invitation to a history of their own under the id of one that the caller knows.
 * Throws CofferError `join_invalid` when the history does not have the invitation, and what reading a history throws.
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
  // The whole history is read: the invitation is looked for in all of it.
  const before = known === undefined ? undefined : { ...known, state: null };
  for (let round = 1; ; round += 1) {
    try {
      const walked = await walk(read, res, self.who, before);
      if (walked === null) return undefined;
      const { state, given, joinedBy } = walked;
      const invitation = [...state.invitations, joinedBy].find((one) => one?.tag === token.tag);
      const joinKey = await openInvitation(res, invitation, token.wrapKey);
      if (holderOf(state, self.who)?.key === self.publicKey) return { pin: state.head, state, accepted: true, given };
      if (invitation?.email !== email)
        throw new CofferError("access_denied", "the invitation is for another e-mail address");
      const perm = invitation?.perm ?? "read";
      const holder = { who: self.who, key: self.publicKey, perm, ...(email === undefined ? {} : { email }) };
      const signed = await sign(state, res, `invite:${token.tag}`, joinKey, { set: [holder] });
      await send(signed.text);
      const by = invitation === undefined ? undefined : { by: invitation.by, key: invitation.by_key };
      return { pin: signed.state.head, state: signed.state, accepted: true, given: by };
    } catch (error) {
      const overtaken = error instanceof CofferError && error.code === "conflict" && round < rounds;
      if (!overtaken) throw historyFailure(error);
    }
  }
}

/** Sends a machine's join of a folder. */
export function folderJoin(
  send: (request: ApiRequest) => Promise<ApiAnswer>,
  folderId: string,
): (entry: string) => Promise<ApiAnswer> {
  return (entry) => send({ method: "POST", path: `/api/sm/v1/folders/${folderId}/history`, body: { entry } });
}
