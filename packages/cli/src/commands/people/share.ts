import { isUuid, type Permission, type PersonClient, type RotationHolder, type RotationReport } from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure } from "../../failure.ts";
import { withFingerprints } from "../../output/fingerprint-lines.ts";
import { printJson, printList, printNotice } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { asPerson } from "../../service/access.ts";
import { severalHave } from "../../service/pick.ts";

interface ShareOptions extends PersonOptions {
  permission: Permission;
}

/**
 * `coffer folder share <folder> <member>`: gives a member the folder with its key, or changes the
 * permission.
 */
export async function shareFolder({ args: [folder = "", member = ""], options, env }: Call<ShareOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = await person.folders.find(folder);
  const { user_id: userId, email } = await colleague(person, member, id);
  const grant = await person.folders.share(id, { userId, permission: options.permission });
  printNotice(`${email} may ${grant.permission} in ${name}`);
  if (options.json === true) printJson(grant);
}

/** `coffer folder unshare <folder> <member>`: revokes a member's grant on the folder. */
export async function unshareFolder({ args: [folder = "", member = ""], options, env }: Call<PersonOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = await person.folders.find(folder);
  const { user_id: userId, email } = await colleague(person, member, id);
  await person.folders.unshare(id, userId);
  printNotice(`revoked access of ${email} to ${name}; the person may still have its key`);
  printNotice(
    `the history of ${name} still names ${email}: \`coffer folder rotate ${quoteValue(name)}\` ends that and makes a new key`,
  );
}

/**
 * `coffer folder holders <folder>`: the people and machines of a folder, with the words of their
 * keys as the service shows them.
 */
export async function listHolders({ args: [folder = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const holders = await person.folders.holders((await person.folders.find(folder)).id);
  printList(
    await withFingerprints(holders),
    options,
    ["KIND", "ID", "NAME", "PERMISSION", "WORDS"],
    ({ kind, id, name, permission, fingerprint }) => [
      kind === "user" ? "person" : "machine",
      id,
      name,
      permission,
      fingerprint?.words ?? "no key",
    ],
  );
}

/**
 * `coffer folder rotate <folder>`: gives the folder a new key, for the members and machines that
 * its history confirms.
 */
export async function rotateFolder({ args: [folder = ""], options, env }: Call<PersonOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = await person.folders.find(folder);
  const rotated = await person.folders.rotate(id);
  printRotated(name, rotated.key_version, rotated);
  if (rotated.unopened.length > 0) {
    printNotice(
      "some parts of these secrets did not open, or could not be sealed with the new key. They are stored unchanged:",
    );
    for (const { uid, parts } of rotated.unopened) printNotice(`  ${uid}: ${parts.join(", ")}`);
    printNotice("let their writers set them again, or remove one with `coffer rm <uid>`");
  }
  if (options.json === true) printJson(rotated);
}

/** Prints the effect of a rotation on members and machines. */
export function printRotated(name: string, version: number, { sealed_to, dropped, left_out }: RotationReport): void {
  printNotice(
    `${name} has a new key (version ${version}). Former members may have copied what they could read: replace values that must stay secret`,
  );
  tellHolders("it was sealed to", sealed_to);
  tellHolders("its history does not name any more", dropped);
  tellHolders("it was not sealed to, because suspended or not confirmed, until a manager confirms", left_out);
}

function tellHolders(what: string, holders: readonly RotationHolder[]): void {
  if (holders.length === 0) return;
  printNotice(what);
  for (const { kind, id, name } of holders)
    printNotice(kind === "user" ? `  person ${name}` : `  machine ${name} (${id})`);
}

/**
 * The member with that e-mail or id, from the organization's history: the service's list does not
 * decide about keys. With a folder, its organization is used, because in another one the e-mail may
 * be another person's. Throws Failure: not found, or usage when two have the e-mail.
 */
export async function colleague(
  person: PersonClient,
  wanted: string,
  folder?: string,
): Promise<{ user_id: string; email: string }> {
  const found = oneSigned(await person.members.confirmed({ folder }), wanted);
  if (found !== undefined) return found;
  throw new Failure(
    exitCodes.notFound,
    `the organization's history names no member ${wanted}: give the e-mail or id of one who has joined ` +
      "(`coffer invite ls` shows who has not, `coffer member ls` who has)",
  );
}

/**
 * The member that the organization's history names with this e-mail or id; undefined for none. Throws Failure
 * when several have the e-mail: a manager can sign one that belongs to another member.
 */
export function oneSigned<Member extends { user_id: string; email: string }>(
  members: readonly Member[],
  wanted: string,
): Member | undefined {
  const text = canonicalName(wanted);
  const found = members.filter(({ user_id, email }) => (isUuid(text) ? user_id : email) === text);
  if (found.length < 2) return found[0];
  throw severalHave(
    wanted,
    "member",
    found.map(({ user_id }) => ({ id: user_id })),
  );
}

/** The canonical form of an e-mail address or id. */
export function canonicalName(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}
