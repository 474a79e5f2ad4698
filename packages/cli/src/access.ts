import { stat } from "node:fs/promises";
import { createClient, isUuid, personClient } from "@coffer/sdk";
import type { CofferError, MachineClient, PersonClient, PersonSession, SecretsClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";
import { namedAddress, resolveAddress } from "./address.ts";
import type { Address } from "./address.ts";
import { askToAccept } from "./ask-to-accept.ts";
import type { AddressOptions, CachedOptions, DataOptions } from "./command-row.ts";
import { configurationTrust } from "./configuration-trust.ts";
import { Failure, exitCodes, usage } from "./failure.ts";
import { offlineIn } from "./offline.ts";
import { tell, visible } from "./output.ts";
import { profileDirectory } from "./paths.ts";
import { notLoggedIn, profileKeeper, readProfile } from "./profile.ts";
import { serviceKey } from "./same-service.ts";
import { hasTerminal } from "./terminal.ts";
import { trustFile } from "./trust-file.ts";
import { version } from "./version.ts";

/** The longest `Retry-After` that a command waits for, and for how long it asks again when it is refused again. */
const longestWaitSeconds = 120;
/** For a caller that waits itself, or that reports the limit instead of waiting for it. */
const shortestWaitSeconds = 2;

/** How a command sends its requests: few repetitions of what got no answer, and it waits while the rate limit is exhausted. */
export function mannersOf({ insecureHttp, withoutWaiting }: AddressOptions) {
  const sayWaiting = onceWaiting();
  return {
    insecureHttp,
    attempts: 3,
    maxWaitSeconds: withoutWaiting === true ? shortestWaitSeconds : longestWaitSeconds,
    maxRefusedSeconds: withoutWaiting === true ? undefined : longestWaitSeconds,
    timeoutMilliseconds: 30_000,
    userAgent: `coffer-cli/${version()}`,
    onRetry(error: CofferError, elapsedMilliseconds: number): void {
      if (error.code === "rate_limited") sayWaiting(error);
      // Who has waited for long learns why.
      else if (elapsedMilliseconds > 5_000) tell(`coffer: ${error.message}; trying again`);
    },
  };
}

/** Says once that a command waits for the rate limit, when that is long enough to be noticed. */
function onceWaiting(): (error: CofferError) => void {
  let said = false;
  return ({ retryAfterSeconds: seconds = 0 }) => {
    if (said || seconds <= shortestWaitSeconds) return;
    tell(`coffer: too many requests from this address: waiting ${seconds} s, as the service asks (Retry-After)`);
    said = true;
  };
}

/** The same, and it says which secrets and records a list leaves out; `leftOut` gets their ids. */
function readerOptions(options: AddressOptions, leftOut = new Set<string>()) {
  return {
    ...mannersOf(options),
    onUnreadable(id: string, error: CofferError): void {
      leftOut.add(id);
      tell(`coffer: left out: ${error.message}`);
    },
  };
}

/**
 * Works as the person who is logged in at the address of this call. Throws Failure: not authenticated without a session
 * there, usage when the call names one service and the session is at another, or for a wrong `--org`.
 */
export async function asPerson(options: DataOptions, env: NodeJS.ProcessEnv): Promise<PersonClient> {
  return (await asMember(options, env)).person;
}

/** A person, and the one organization that a call is about. */
export interface Member {
  person: PersonClient;
  /** Its id; undefined without `--org`. */
  organization: string | undefined;
  /** Ids of the secrets and records that lists have left out so far, because they cannot be opened. */
  leftOut: ReadonlySet<string>;
}

/** The same as `asPerson`, and what `--org` names. */
export async function asMember(options: DataOptions, env: NodeJS.ProcessEnv): Promise<Member> {
  // What is no address is said whether somebody is logged in or not.
  namedAddress(options, env);
  const directory = profileDirectory(env);
  const profile = await readProfile(directory);
  const elsewhere = Object.values(profile.sessions).map((session) => session.url);
  if (elsewhere.length === 0) throw notLoggedIn();
  const { url, named } = await resolveAddress(options, env, { profile: () => Promise.resolve(profile.url) });
  const session = profile.sessions[serviceKey(url)];
  if (session === undefined) throw loggedInElsewhere(elsewhere, url, named);
  const keeper = profileKeeper(directory, url);
  const leftOut = new Set<string>();
  const reader = {
    ...readerOptions(options, leftOut),
    trust: trustFile(directory, url, session.user.id),
    unsealedTitles: options.unsealedTitles === true,
    accept: hasTerminal() ? askToAccept : undefined,
    onKeyringTrouble: (error: CofferError) => tell(`coffer: your other devices could not be told: ${error.message}`),
  };
  const person = personClient(keeper, url, reader);
  if (options.org === undefined) return { person, organization: undefined, leftOut };
  const organization = await organizationId(person, options.org);
  return { person: personClient(keeper, url, { ...reader, organization }), organization, leftOut };
}

/** The session at a service, unlocked. Throws Failure: not authenticated. */
export function sessionAt(url: string, env: NodeJS.ProcessEnv): Promise<PersonSession> {
  return profileKeeper(profileDirectory(env), url).current();
}

function loggedInElsewhere(elsewhere: readonly string[], url: string, named: Address["named"]): Failure {
  const there = elsewhere.join(" and ");
  if (named === undefined) return notLoggedIn(`not logged in at ${url}, but at ${there} (--url chooses)`);
  return usage(
    `you are logged in at ${there}, not at ${url}, which ${named} names: log in there, or leave ${named} out`,
  );
}

/** The configuration that makes a command a machine's: `--config`, else COFFER_CONFIG; undefined without either. */
export function machineConfigurationOf(options: DataOptions, env: NodeJS.ProcessEnv): string | undefined {
  return options.config ?? (env["COFFER_CONFIG"] || undefined);
}

/**
 * Works as the machine of a configuration (a path or the JSON itself), with `--cache` also while the service is away.
 */
export async function asMachine(
  configuration: string,
  options: CachedOptions,
  env: NodeJS.ProcessEnv,
): Promise<MachineClient> {
  const loaded = await loadConfiguration(configuration);
  const { url } = await resolveAddress(options, env, { configuration: loaded.url });
  const offline = options.cache === undefined ? undefined : offlineIn(options.cache);
  const trust = (await isFile(configuration)) ? configurationTrust(configuration, loaded) : undefined;
  const unsealedTitles = options.unsealedTitles === true;
  return createClient({ ...loaded, url }, { ...readerOptions(options), offline, trust, unsealedTitles });
}

/** Whether a configuration is named by its path; else it is the JSON itself. */
async function isFile(configuration: string): Promise<boolean> {
  return stat(configuration).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Throws Failure (usage) for a `--cache` without a machine: it is sealed with the machine's key. */
export function checkCache(options: CachedOptions, env: NodeJS.ProcessEnv): void {
  if (options.cache === undefined) return;
  if (options.cache === "") throw usage("--cache names no file");
  if (machineConfigurationOf(options, env) === undefined)
    throw usage("--cache is for machines: give the machine's configuration with --config or COFFER_CONFIG");
}

/** Secrets as the machine, when a configuration says so, else as the person. */
export async function secretsOf(options: CachedOptions, env: NodeJS.ProcessEnv): Promise<SecretsClient> {
  checkCache(options, env);
  const configuration = machineConfigurationOf(options, env);
  if (configuration === undefined) return (await asPerson(options, env)).secrets;
  return asMachine(configuration, options, env);
}

/** An organization's id from its name or id. */
async function organizationId(person: PersonClient, nameOrId: string): Promise<string> {
  return pick(await person.organizations.list(), nameOrId, "organization").id;
}

/**
 * The one thing of that id or name, names without regard to case. What may be an id is never a name: the service says the
 * names, and would choose another thing by calling it so. Throws Failure: not found, or usage when several have the name.
 */
export function pick<T extends { id: string; name: string }>(things: readonly T[], nameOrId: string, noun: string): T {
  const wanted = nameOrId.toLowerCase();
  const found = isUuid(wanted)
    ? things.filter(({ id }) => id === wanted).slice(0, 1)
    : things.filter(({ name }) => name.toLowerCase() === wanted);
  const [first, ...others] = found;
  if (first === undefined) throw new Failure(exitCodes.notFound, `there is no ${noun} ${nameOrId} that you may see`);
  if (others.length > 0) throw severalHave(nameOrId, noun, found);
  return first;
}

/** Which ids, one a line, a name that several have may stand for. What stands beside an id must be safe to show. */
export function severalHave(name: string, noun: string, things: readonly { id: string }[]): Failure {
  const ids = things.map(({ id }) => id).join("\n  ");
  return usage(`${things.length} have the name ${visible(name)}: name the ${noun} by its id, one of\n  ${ids}`);
}
