import type { Calls } from "../../protocol/calls.ts";
import type { PersonDetail } from "../../protocol/people.ts";
import type { WordsOf } from "../platform/machines.ts";
import { confirmedMembers } from "./people.ts";
import { toRotate } from "../sharing.ts";
import type { Workspace } from "../workspace.ts";

/** A member as an administrator sees them. The words are of the key that the organization's history names, if it does. */
export async function personDetail({ client }: Workspace, userId: string, wordsOf: WordsOf): Promise<PersonDetail> {
  const [{ public_key: shown }, named, sessions] = await Promise.all([
    client.members.publicKey(userId),
    confirmedMembers(client),
    client.members.sessions(userId),
    // For the histories: those that name the person are shown.
    client.folders.list(),
  ]);
  const confirmed = named?.find(({ user_id: id }) => id === userId)?.public_key;
  return {
    id: userId,
    words: await wordsOf(confirmed ?? shown),
    key: confirmed === undefined ? "unconfirmed" : confirmed === shown ? "confirmed" : "changed",
    sessions: sessions.map(({ id, device, last_used_at: lastUsedAt, ip, current }) => {
      return { id, name: device.name, lastUsedAt, ip, current };
    }),
    holds: toRotate(await client.stillNaming(`user:${userId}`)),
  };
}

/**
 * Signs the member's key if its e-mail, role and words are those that the person has seen, and no other
 * member of the history has the e-mail. The role decides whether the member manages the organization.
 */
export async function confirmMember(
  workspace: Workspace,
  { userId, email, role, words }: Parameters<Calls["confirmMember"]>[0],
  wordsOf: WordsOf,
): Promise<PersonDetail> {
  const { client } = workspace;
  const address = email.trim().normalize("NFKC").toLowerCase(); // as histories have it
  const isTaken = (await confirmedMembers(client))?.some((member) => member.email === address);
  await client.members.confirm(userId, (holder) => {
    const isSeen = holder.name === email && holder.role === role && holder.fingerprint.words === words;
    return Promise.resolve(isTaken !== true && isSeen);
  });
  return personDetail(workspace, userId, wordsOf);
}
