import type { HolderView, MemberView, Permission, PersonClient } from "@coffer/sdk";
import { asPerson, pick, sessionAt } from "../access.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { rememberTakenOff } from "../known-holders.ts";
import { confirmedAs, confirmKey, confirmKeys } from "../known-keys.ts";
import type { ConfirmOptions } from "../known-keys.ts";
import { printJson, printList, tell, visible } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { serviceKey } from "../same-service.ts";
import { pickMember } from "./member.ts";

interface ShareOptions extends PersonOptions, ConfirmOptions {
  permission: Permission;
}

/** `coffer folder share <folder> <member>`: gives a member the folder with its key, or changes the permission. */
export async function shareFolder({ args: [folder = "", member = ""], options, env }: Call<ShareOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = pick(await person.folders.list(), folder, "folder");
  const { user_id: userId, email } = await memberOf(person, member);
  const confirm = confirmKey(profileDirectory(env), await sessionAt(person.url, env), options, id);
  const grant = await person.folders.share(id, { userId, name: email, permission: options.permission }, confirm);
  tell(`${email} may ${grant.permission} in ${name}`);
  if (options.json === true) printJson(grant);
}

/** `coffer folder unshare <folder> <member>`: takes the folder away from a member. */
export async function unshareFolder({ args: [folder = "", member = ""], options, env }: Call<PersonOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = pick(await person.folders.list(), folder, "folder");
  const [directory, service] = [profileDirectory(env), serviceKey(person.url)];
  // Before the service is asked: it may refuse, or not show whom it is to take the folder from.
  await rememberTakenOff(directory, service, id, await confirmedAs(directory, service, member));
  const { user_id: userId, email } = await memberOf(person, member);
  await rememberTakenOff(directory, service, id, [userId]);
  await person.folders.unshare(id, userId);
  tell(
    `took ${name} away from ${email}. The person may have kept its key: \`coffer folder rotate ${name}\` makes a new one`,
  );
}

/** `coffer folder holders <folder>`: who holds the folder's key. */
export async function listHolders({ args: [folder = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const holders = await person.folders.holders(pick(await person.folders.list(), folder, "folder").id);
  printList(holders, options, ["KIND", "ID", "NAME", "PERMISSION"], ({ kind, id, name, permission }) => [
    kind === "user" ? "person" : "machine",
    id,
    name,
    permission,
  ]);
}

/** `coffer folder rotate <folder>`: gives the folder a new key, for its present holders alone. */
export async function rotateFolder({ args: [folder = ""], options, env }: Call<PersonOptions & ConfirmOptions>) {
  const person = await asPerson(options, env);
  const { id, name } = pick(await person.folders.list(), folder, "folder");
  const emails = new Map((await person.members.list()).map(({ user_id, email }) => [user_id, email]));
  const confirm = confirmKeys(profileDirectory(env), await sessionAt(person.url, env), options, id, emails);
  const rotated = await person.folders.rotate(id, confirm);
  tell(
    `${visible(name)} has a new key (version ${rotated.key_version}). What somebody could read before may have been kept: replace values that must not be known`,
  );
  tell("it was sealed to");
  for (const holder of rotated.holders) tell(`  ${lineOf(holder, emails.get(holder.id))}`);
  if (rotated.unopened.length > 0) {
    tell(
      "some parts of these secrets did not open, or could not be sealed with the new key. They are stored unchanged:",
    );
    for (const { uid, parts } of rotated.unopened) tell(`  ${visible(uid)}: ${parts.map(visible).join(", ")}`);
    tell("let their writers set them again, or remove one with `coffer rm <uid>`");
  }
  if (options.json === true) printJson(rotated);
}

/** `person bob@example.com (Bob)` or `machine web (its id)` */
function lineOf({ kind, id, name }: HolderView, email: string | undefined): string {
  if (kind === "client" || email === undefined)
    return `${kind === "client" ? "machine" : "person"} ${visible(name)} (${visible(id)})`;
  return `person ${visible(email)}${name === email ? "" : ` (${visible(name)})`}`;
}

async function memberOf(person: PersonClient, nameOrId: string): Promise<MemberView> {
  return pickMember(await person.members.list(), nameOrId);
}
