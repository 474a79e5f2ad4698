import type { MemberView, Permission, PersonClient, Vault } from "@coffer/sdk";
import { asMember, asPerson } from "../access.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { exitCodes, Failure, usage } from "../failure.ts";
import { compareWords } from "../compare-words.ts";
import type { ConfirmOptions } from "../compare-words.ts";
import { print, printJson, printList, shortTime, tell, visible } from "../output.ts";
import { vaultsOf, withVault } from "../pick-vault.ts";
import { pickMember } from "./member.ts";

interface CreateOptions extends PersonOptions {
  type: "personal" | "shared";
}

/** `coffer vault create <name>`: makes a vault with a new key; prints its id. */
export async function createVault({ args: [name = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const vault = await (await asPerson(options, env)).vaults.create(name, { type: options.type });
  tell(`made the ${vault.type} vault ${name}`);
  if (options.json === true) printJson(vault);
  else print(vault.id);
}

/** `coffer vault ls`: the vaults one may see, with `--org` those of one organization. */
export async function listVaults({ options, env }: Call<PersonOptions>): Promise<void> {
  const vaults = await vaultsOf(await asMember(options, env));
  printList(
    vaults,
    options,
    ["ID", "NAME", "TYPE", "PERMISSION", "RECORDS", "SAFE FOR TRAVEL", "UPDATED"],
    ({ id, name, type, permission, record_count, safe_for_travel, updated_at }) => [
      id,
      name,
      type,
      permission,
      String(record_count),
      safe_for_travel ? "yes" : "no",
      shortTime(updated_at),
    ],
  );
}

interface SetOptions extends PersonOptions {
  name?: string;
  safeForTravel?: "yes" | "no";
}

/** `coffer vault set <vault>`: changes its name, or whether it stays in sight while travelling. */
export async function setVault({ args: [nameOrId = ""], options, env }: Call<SetOptions>): Promise<void> {
  const { name, safeForTravel } = options;
  if (name === undefined && safeForTravel === undefined)
    throw usage("nothing to change: give --name or --safe-for-travel");
  const { person, vault } = await withVault(options, env, nameOrId);
  const safe = safeForTravel === undefined ? undefined : safeForTravel === "yes";
  const changed = await person.vaults.update(vault.id, { name, safeForTravel: safe });
  tell(`the vault ${changed.name} ${changed.safe_for_travel ? "stays in sight" : "is hidden"} while you travel`);
  if (options.json === true) printJson(changed);
}

interface RemoveOptions extends PersonOptions {
  force?: boolean;
}

/** `coffer vault rm <vault>`: removes a vault; with `--force` also the records in it. */
export async function removeVault({ args: [nameOrId = ""], options, env }: Call<RemoveOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, nameOrId);
  if (vault.record_count > 0 && options.force !== true)
    throw new Failure(
      exitCodes.failure,
      `the vault ${visible(vault.name)} holds records (${vault.record_count}): add --force to remove them with it`,
    );
  await person.vaults.remove(vault.id);
  tell(`removed the vault ${vault.name}`);
}

interface ShareOptions extends PersonOptions, ConfirmOptions {
  permission: Permission;
}

/** `coffer vault share <vault> <member>`: gives a member the vault with its key, or changes the permission. */
export async function shareVault({ args: [nameOrId = "", member = ""], options, env }: Call<ShareOptions>) {
  const { person, vault } = await withVault(options, env, nameOrId);
  requireShareable(vault);
  const { user_id: userId, email } = await memberOf(options, env, vault, member);
  const request = { userId, name: email, permission: options.permission };
  const undone = `${vault.name} was not shared with ${email}`;
  const grant = await person.vaults.share(vault.id, request, compareWords(options, undone));
  tell(`${email} may ${grant.permission} in ${vault.name}`);
  if (options.json === true) printJson(grant);
}

/** Before anybody is asked about a key, which would be remembered. */
function requireShareable({ name, type, permission }: Vault): void {
  if (type !== "shared") throw usage(`${visible(name)} is a personal vault, which is not shared: make a shared one`);
  if (permission !== "manage")
    throw new Failure(exitCodes.denied, `you may not share ${visible(name)}: only who manages a vault does`);
}

/** `coffer vault unshare <vault> <member>`: takes the vault away from a member. */
export async function unshareVault({ args: [nameOrId = "", member = ""], options, env }: Call<PersonOptions>) {
  const { person, vault } = await withVault(options, env, nameOrId);
  const { user_id: userId, email } = await memberOf(options, env, vault, member);
  await person.vaults.unshare(vault.id, userId);
  tell(
    `took ${vault.name} away from ${email}. What the person has read may have been kept: replace what must not be known`,
  );
}

/** `coffer vault members <vault>`: who holds the vault's key. */
export async function listVaultMembers({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, nameOrId);
  const members = await person.vaults.members(vault.id);
  printList(
    members,
    options,
    ["ID", "E-MAIL", "NAME", "PERMISSION", "SINCE"],
    ({ user_id, email, name, permission, added_at }) => [user_id, email, name, permission, shortTime(added_at)],
  );
}

/** A member of the vault's own organization, whichever one the call is about. */
async function memberOf(
  options: PersonOptions,
  env: NodeJS.ProcessEnv,
  vault: Vault,
  wanted: string,
): Promise<MemberView> {
  if (vault.org_id === null)
    throw usage(`the vault ${visible(vault.name)} belongs to no organization: it cannot be shared`);
  const there: PersonClient = await asPerson({ ...options, org: vault.org_id }, env);
  return pickMember(await there.members.list(), wanted);
}
