import { CofferError, isUuid, type MemberView, type PersonClient, type Role, type SessionListItem } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { print, printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { asPerson, sessionAt } from "../../service/access.ts";
import { severalHave } from "../../service/pick.ts";
import { compareWords, type ConfirmOptions } from "../../trust/compare-words.ts";
import { canonicalName, oneSigned } from "./share.ts";

/** `coffer member ls` */
export async function listMembers({ options, env }: Call<PersonOptions>): Promise<void> {
  const members = await (await asPerson(options, env)).members.list();
  printList(
    members,
    options,
    ["ID", "E-MAIL", "NAME", "ROLE", "STATUS", "JOINED"],
    ({ user_id, email, name, role, status, joined_at }) => [user_id, email, name, role, status, shortTime(joined_at)],
  );
}

interface SetOptions extends PersonOptions {
  role?: Role;
  status?: MemberView["status"];
}

/** `coffer member set <member>`: changes a member's role or status. */
export async function setMember({ args: [member = ""], options, env }: Call<SetOptions>): Promise<void> {
  const { role, status } = options;
  if (role === undefined && status === undefined) throw usage("nothing to change: give --role or --status");
  const person = await asPerson(options, env);
  // A role is signed.
  const { user_id: id, email } =
    role === undefined ? pickMember(await person.members.list(), member) : await signedMember(person, member);
  const changed = await person.members.update(id, { role, status });
  printNotice(`${email} is ${changed.role}, ${changed.status}`);
  if (options.json === true) printJson(changed);
}

interface RemoveOptions extends PersonOptions {
  force?: boolean;
}

/** `coffer member rm <member>`: ends a member's access at once; with oneself, leaves. */
export async function removeMember({ args: [member = ""], options, env }: Call<RemoveOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const { user_id: id, email } = await signedMember(person, member);
  const { signed, rotate } = await person.members.remove(id, { force: options.force });
  printNotice(`${email} is no longer a member, and may have copied what they could read`);
  if (!signed)
    printNotice(
      `the organization's history still names ${email}: an owner or admin signs it with \`coffer member rm ${quoteValue(email)}\``,
    );
  for (const { kind, name } of rotate)
    printNotice(
      `the history of ${name} still names ${email}: \`coffer ${kind} rotate ${quoteValue(name)}\` ends that and makes a new key`,
    );
}

/**
 * The current or former member that an entry of the organization's history will name. The history
 * determines whose an e-mail is: the service could show it beside another person's id. Throws
 * Failure: not found, or usage for a name.
 */
async function signedMember(person: PersonClient, wanted: string): Promise<{ user_id: string; email: string }> {
  const text = canonicalName(wanted);
  const named = await confirmedMembers(person);
  const found = oneSigned(named, wanted);
  if (found !== undefined) return found;
  // The history does not name members who joined before it started.
  const listed = pickMember(await person.members.list(), wanted);
  if (!isUuid(text) && !text.includes("@"))
    throw usage(`names are the service's word: name the member by the e-mail, ${visible(listed.email)}, or the id`);
  const other = named.find(({ user_id }) => user_id === listed.user_id);
  if (other === undefined) return listed;
  throw new Failure(
    exitCodes.failure,
    `the service shows ${visible(other.email)} as ${wanted}: nothing was changed; inform the operator`,
  );
}

/** The members that the organization's history names; none without a history. */
async function confirmedMembers(person: PersonClient): Promise<{ user_id: string; email: string }[]> {
  try {
    return await person.members.confirmed();
  } catch (error) {
    if (error instanceof CofferError && error.code === "no_history") return [];
    throw error;
  }
}

interface ConfirmMemberOptions extends PersonOptions, ConfirmOptions {
  role?: Role;
}

/**
 * `coffer member confirm <member>`: after the words were compared, names a member in the
 * organization's history.
 */
export async function confirmMember({ args: [member = ""], options, env }: Call<ConfirmMemberOptions>) {
  const person = await asPerson(options, env);
  const { user_id: id, email } = await signedMember(person, member);
  const { role, fingerprint } = options;
  const compare = compareWords(options, `${email} was not confirmed`);
  let manages = "";
  await person.members.confirm(id, (holder) => {
    // The e-mail is signed with the key. The service could state another one now.
    if (holder.name !== email)
      throw new Failure(exitCodes.failure, `the service shows ${visible(holder.name)} as ${email}: nothing was signed`);
    if (holder.role === "owner" || holder.role === "admin") {
      // The role is the service's word. Without a fingerprint the person sees it in the question.
      if (fingerprint !== undefined && role !== holder.role)
        throw usage(
          `the service says that ${email} is ${holder.role}: if so, add --role ${holder.role}; nothing was signed`,
        );
      manages = `, and manages the organization as ${holder.role}`;
    }
    return compare(holder);
  });
  printNotice(`${email} is confirmed${manages}`);
}

interface CutOptions extends PersonOptions {
  entry?: string;
}

/**
 * `coffer member cut <member-id> <resource>`: corrects how far a former member's signatures count
 * in a folder or vault.
 */
export async function cutMember({ args: [member = "", resource = ""], options, env }: Call<CutOptions>): Promise<void> {
  if (!isUuid(member)) throw usage(`${visible(member)} is no id: a former member is named by the id`);
  const [, kind, id = ""] = /^(folder|vault):(.*)$/.exec(resource) ?? [];
  if ((kind !== "folder" && kind !== "vault") || !isUuid(id))
    throw usage(`${visible(resource)} is no resource: give folder:<id> or vault:<id>`);
  const entry = options.entry === undefined ? undefined : entryOf(options.entry);
  const person = await asPerson(options, env);
  const stated = await person.members.restateCut(member.toLowerCase(), { kind, id: id.toLowerCase() }, entry);
  printNotice(`in ${kind}:${id} the signatures of ${member} count up to entry ${stated.seq} from now on`);
  if (options.json === true) printJson(stated);
}

function entryOf(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw usage(`--entry is a number and a hash, as in 5:${"ab".repeat(32)}`);
  return { seq: Number(seq), hash };
}

interface SessionOptions extends PersonOptions {
  end?: string;
  endAll?: boolean;
}

/** `coffer member sessions <member>`: lists or ends a member's sessions. */
export async function memberSessions({ args: [member = ""], options, env }: Call<SessionOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const { user_id: id, email } = pickMember(await person.members.list(), member);
  if (options.end !== undefined || options.endAll === true) {
    await person.members.endSessions(id, options.endAll === true ? undefined : options.end);
    printNotice(options.endAll === true ? `ended every session of ${email}` : `ended the session of ${email}`);
  } else printSessions(await person.members.sessions(id), options);
}

/**
 * `coffer member key <member>`: the fingerprint of a member's public key as the service shows it;
 * for one's own key, computed here. Throws Failure when the service shows another key for oneself.
 */
export async function memberKey({ args: [member = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const { user } = await sessionAt(person.url, env);
  const isOwnEmail = member.toLowerCase() === user.email.toLowerCase();
  const id = isOwnEmail ? user.id : pickMember(await person.members.list(), member).user_id;
  const { public_key, fingerprint: shown } = await person.members.publicKey(id);
  const fingerprint = id === user.id ? await person.fingerprint() : shown;
  if (options.json === true) printJson({ user_id: id, public_key, fingerprint });
  else print(fingerprint.words, fingerprint.hex);
  if (fingerprint.hex !== shown.hex)
    throw new Failure(
      exitCodes.failure,
      `the service shows another public key for you (${shown.words}) than the one that belongs to your private key: ` +
        "do not let anyone confirm the key that it shows",
    );
}

export function printSessions(sessions: readonly SessionListItem[], { json }: { json?: boolean }): void {
  printList(
    sessions,
    { json },
    ["ID", "DEVICE", "LAST USED", "FROM", ""],
    ({ id, device, last_used_at, ip, current }) => [
      id,
      device.name,
      shortTime(last_used_at),
      ip ?? "",
      current ? "this one" : "",
    ],
  );
}

/**
 * The member with that id, e-mail or name. A text in the form of an id or an e-mail is never a
 * name, because people choose their names and the service shows them. Throws Failure: not found, or
 * usage when several have the name.
 */
export function pickMember(members: readonly MemberView[], wanted: string): MemberView {
  const text = wanted.toLowerCase();
  const called = ({ user_id, email, name }: MemberView): string =>
    isUuid(text) ? user_id : text.includes("@") ? email : name.toLowerCase();
  const [first, ...others] = members.filter((member) => called(member) === text);
  if (first === undefined) throw new Failure(exitCodes.notFound, `there is no member ${wanted} that you may see`);
  if (others.length > 0) {
    const found = [first, ...others].map(({ user_id, email }) => ({ id: `${user_id} (${email})` }));
    throw severalHave(wanted, "member", found);
  }
  return first;
}
