import type { VaultType } from "@coffer/contract";
import {
  isUuid,
  type Permission,
  type PersonClient,
  type RotatedVault,
  type Vault,
  type VaultMember,
} from "@coffer/sdk";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { print, printJson, printList, printNotice, shortTime, visible } from "../../output/output.ts";
import { quoteValue } from "../../output/quote-value.ts";
import { asMember, asPerson } from "../../service/access.ts";
import { vaultsOf, withVault } from "../../service/pick-vault.ts";
import { canonicalName, colleague, printRotated } from "../people/share.ts";

interface CreateOptions extends PersonOptions {
  type: VaultType;
}

/**
 * `coffer vault create <name>`: creates a vault with a new key and prints its id. Says so when
 * travel mode hides the new vault.
 */
export async function createVault({ args: [name = ""], options, env }: Call<CreateOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const vault = await person.vaults.create(name, { type: options.type });
  printNotice(`made the ${vault.type} vault ${name}`);
  const travel = await person.travel.status().catch(() => null); // the vault exists whatever the answer
  if (travel?.enabled === true) printNotice("you travel: the new vault is hidden until `coffer travel off`");
  if (options.json === true) printJson(vault);
  else print(vault.id);
}

/** `coffer vault ls`: the visible vaults, with `--org` those of one organization. */
export async function listVaults({ options, env }: Call<PersonOptions>): Promise<void> {
  const vaults = await vaultsOf(await asMember(options, env));
  printList(
    vaults,
    options,
    ["ID", "NAME", "TYPE", "PERMISSION", "RECORDS", "SAFE FOR TRAVEL", "UPDATED", "KEY"],
    ({ id, name, type, permission, record_count, safe_for_travel, updated_at, problem }) => [
      id,
      name,
      type,
      permission,
      String(record_count),
      safe_for_travel ? "yes" : "no",
      shortTime(updated_at),
      problem ?? "",
    ],
  );
}

interface SetOptions extends PersonOptions {
  name?: string;
  safeForTravel?: "yes" | "no";
}

/** `coffer vault set <vault>`: changes its name, or whether it stays visible while travelling. */
export async function setVault({ args: [nameOrId = ""], options, env }: Call<SetOptions>): Promise<void> {
  const { name, safeForTravel } = options;
  if (name === undefined && safeForTravel === undefined)
    throw usage("nothing to change: give --name or --safe-for-travel");
  const { person, vault } = await withVault(options, env, nameOrId);
  const safe = safeForTravel === undefined ? undefined : safeForTravel === "yes";
  const changed = await person.vaults.update(vault.id, { name, safeForTravel: safe });
  printNotice(`the vault ${changed.name} ${changed.safe_for_travel ? "stays visible" : "is hidden"} while you travel`);
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
  printNotice(`removed the vault ${vault.name}`);
}

interface ShareOptions extends PersonOptions {
  permission: Permission;
}

/**
 * `coffer vault share <vault> <member>`: gives a member the vault with its key, or changes the
 * permission.
 */
export async function shareVault({ args: [nameOrId = "", member = ""], options, env }: Call<ShareOptions>) {
  const { person, vault } = await withVault(options, env, nameOrId);
  requireShareable(vault);
  const { user_id: userId, email } = await colleague(await inOrganization(vault, options, env), member);
  const grant = await person.vaults.share(vault.id, { userId, permission: options.permission });
  printNotice(`${email} may ${grant.permission} in ${vault.name}`);
  if (options.json === true) printJson(grant);
}

function requireShareable({ name, type, permission }: Vault): void {
  if (type !== "shared") throw usage(`${visible(name)} is a personal vault, which is not shared: make a shared one`);
  if (permission !== "manage")
    throw new Failure(exitCodes.denied, `you may not share ${visible(name)}: only who manages a vault does`);
}

/** `coffer vault unshare <vault> <member>`: revokes a member's access, and rotates the vault. */
export async function unshareVault({ args: [nameOrId = "", member = ""], options, env }: Call<PersonOptions>) {
  const { person, vault } = await withVault(options, env, nameOrId);
  const { user_id: userId, email } = await memberOf(person, vault, member);
  const rotated = await person.vaults.unshare(vault.id, userId);
  printNotice(
    `revoked access of ${email} to ${vault.name}. The person may have copied what they could read: replace what must stay secret`,
  );
  if (rotated !== null) sayRotated(rotated);
  else if (vault.type === "shared") printNotice(`the history of ${vault.name} says so once a manager rotates it`);
  if (options.json === true && rotated !== null) printJson(rotated);
}

/**
 * `coffer vault rotate <vault>`: gives the vault a new key, for the members that its history
 * confirms.
 */
export async function rotateVault({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, nameOrId);
  const rotated = await person.vaults.rotate(vault.id);
  sayRotated(rotated);
  if (options.json === true) printJson(rotated);
}

function sayRotated({ name, key_version, unopened, ...report }: RotatedVault): void {
  printRotated(name, key_version, report);
  if (unopened.length === 0) return;
  printNotice("these records did not open. They are stored unchanged:");
  for (const id of unopened) printNotice(`  ${id}`);
  printNotice("let their writers set them again, or remove one with `coffer record rm`");
}

/** `coffer vault members <vault>` */
export async function listVaultMembers({ args: [nameOrId = ""], options, env }: Call<PersonOptions>): Promise<void> {
  const { person, vault } = await withVault(options, env, nameOrId);
  const members = await person.vaults.members(vault.id);
  printList(
    members,
    options,
    ["ID", "E-MAIL", "NAME", "PERMISSION", "SINCE", "KEY"],
    ({ user_id, email, name, permission, added_at, problem, ended }) => [
      user_id,
      email,
      name,
      permission,
      shortTime(added_at),
      ended ? "ended" : (problem ?? ""),
    ],
  );
  for (const { email } of members.filter(({ ended }) => ended))
    printNotice(
      `the history of ${vault.name} still names ${email}: \`coffer vault rotate ${quoteValue(vault.name)}\` ends that and makes a new key`,
    );
}

/** The person in a vault's own organization, whatever the organization of the call. */
async function inOrganization(vault: Vault, options: PersonOptions, env: NodeJS.ProcessEnv): Promise<PersonClient> {
  if (vault.org_id === null)
    throw usage(`the vault ${visible(vault.name)} belongs to no organization: it cannot be shared`);
  return asPerson({ ...options, org: vault.org_id }, env);
}

/**
 * The member of a vault with that e-mail or id. Throws Failure: not found, or usage when two have
 * the e-mail.
 */
async function memberOf(person: PersonClient, vault: Vault, wanted: string): Promise<VaultMember> {
  const text = canonicalName(wanted);
  const members = await person.vaults.members(vault.id);
  const found = members.filter(({ user_id, email }) => (isUuid(text) ? user_id : email) === text);
  const [first, ...others] = found;
  if (first === undefined)
    throw new Failure(
      exitCodes.notFound,
      `${visible(vault.name)} has no member ${wanted}: give the e-mail or id of one`,
    );
  if (others.length > 0) throw usage(`${found.length} members have the e-mail ${wanted}: name one by its id`);
  return first;
}
