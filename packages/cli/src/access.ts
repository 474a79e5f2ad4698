import { canonicalUrl, createClient, personClient } from "@coffer/sdk";
import type { MachineClient, PersonClient, PersonSession, SecretsClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";
import { resolveAddress } from "./address.ts";
import type { DataOptions, PersonOptions } from "./command-row.ts";
import { Failure, exitCodes, usage } from "./failure.ts";
import { profileDirectory } from "./paths.ts";
import { notLoggedIn, profileKeeper, readProfile } from "./profile.ts";

/** A person waits at a terminal: little patience, and a limit is said instead of sat out. */
export const patience = { attempts: 3, maxWaitSeconds: 2, timeoutMilliseconds: 30_000 };

/** Works as the person of the profile. Throws Failure: not authenticated without a session, usage for a wrong `--org`. */
export async function asPerson(options: PersonOptions, env: NodeJS.ProcessEnv): Promise<PersonClient> {
  const directory = profileDirectory(env);
  const { session } = await readProfile(directory);
  if (session === undefined) throw notLoggedIn();
  const url = await resolveAddress(options.url, env, () => Promise.resolve(session.url));
  if (!sameService(url, session.url))
    throw usage(`you are logged in at ${session.url}, not at ${url}: log in there, or leave --url and COFFER_URL out`);
  const keeper = profileKeeper(directory);
  const person = personClient(keeper, url, patience);
  if (options.org === undefined) return person;
  return personClient(keeper, url, { ...patience, organization: await organizationId(person, options.org) });
}

/** The configuration that makes a command a machine's: `--config`, else COFFER_CONFIG; undefined without either. */
export function machineConfigurationOf(options: DataOptions, env: NodeJS.ProcessEnv): string | undefined {
  return options.config ?? (env["COFFER_CONFIG"] || undefined);
}

/** Works as the machine of a configuration (a path or the JSON itself). */
export async function asMachine(
  configuration: string,
  options: DataOptions,
  env: NodeJS.ProcessEnv,
): Promise<MachineClient> {
  const loaded = await loadConfiguration(configuration);
  const url = await resolveAddress(options.url, env, () => Promise.resolve(loaded.url));
  return createClient({ ...loaded, url }, patience);
}

/** Secrets as the machine, when a configuration says so, else as the person. */
export async function secretsOf(options: DataOptions, env: NodeJS.ProcessEnv): Promise<SecretsClient> {
  const configuration = machineConfigurationOf(options, env);
  if (configuration === undefined) return (await asPerson(options, env)).secrets;
  return asMachine(configuration, options, env);
}

/** An organization's id from its name or id. */
async function organizationId(person: PersonClient, nameOrId: string): Promise<string> {
  return pick(await person.organizations.list(), nameOrId, "organization").id;
}

/**
 * The one thing of that id or name, names without regard to case.
 * Throws Failure: not found, or usage when several have the name.
 */
export function pick<T extends { id: string; name: string }>(things: readonly T[], nameOrId: string, noun: string): T {
  const name = nameOrId.toLowerCase();
  const byId = things.find(({ id }) => id === nameOrId);
  if (byId !== undefined) return byId;
  const [first, ...others] = things.filter((thing) => thing.name.toLowerCase() === name);
  if (first === undefined) throw new Failure(exitCodes.notFound, `there is no ${noun} ${nameOrId} that you may see`);
  if (others.length > 0) throw usage(`${others.length + 1} have the name ${nameOrId}: name the ${noun} by its id`);
  return first;
}

/** Whether two addresses are one service: the names of this machine on one port are. */
function sameService(one: string, other: PersonSession["url"]): boolean {
  const plain = (url: string): string =>
    canonicalUrl(url).replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/]|$)/, "$1127.0.0.1");
  return plain(one) === plain(other);
}
