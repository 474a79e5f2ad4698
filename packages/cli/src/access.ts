import { stat } from "node:fs/promises";
import { createClient, isUuid, personClient } from "@coffer/sdk";
import type { CofferError, MachineClient, PersonClient, PersonSession, SecretsClient } from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";
import { namedAddress, resolveAddress } from "./address.ts";
import type { Address } from "./address.ts";
import { promptToAccept } from "./prompt-to-accept.ts";
import type { AddressOptions, CachedOptions, DataOptions } from "./command-row.ts";
import { configurationTrust } from "./configuration-trust.ts";
import { Failure, exitCodes, usage } from "./failure.ts";
import { offlineIn } from "./offline.ts";
import { printNotice, visible } from "./output.ts";
import { profileDirectory } from "./paths.ts";
import { notLoggedIn, profileKeeper, readProfile } from "./profile.ts";
import { serviceKey } from "./same-service.ts";
import { hasTerminal } from "./terminal.ts";
import { trustFile } from "./trust-file.ts";
import { version } from "./version.ts";

/** The longest `Retry-After` that a command waits for, and how long it repeats refused requests. */
const longestWaitSeconds = 120;
/** For a caller that waits itself, or that reports the limit. */
const shortestWaitSeconds = 2;

/**
 * The transport options of a command: few retries without a response, and it waits while the rate
 * limit is exhausted.
 */
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
      // After a long wait, print the reason.
      else if (elapsedMilliseconds > 5_000) printNotice(`coffer: ${error.message}; trying again`);
    },
  };
}

/** Prints once that a command waits for the rate limit, if the wait is noticeable. */
function onceWaiting(): (error: CofferError) => void {
  let said = false;
  return ({ retryAfterSeconds: seconds = 0 }) => {
    if (said || seconds <= shortestWaitSeconds) return;
    printNotice(`coffer: too many requests from this address: waiting ${seconds} s (Retry-After)`);
    said = true;
  };
}

/** Options that also print which secrets and records a list omits; `leftOut` receives their ids. */
function readerOptions(options: AddressOptions, leftOut = new Set<string>()) {
  return {
    ...mannersOf(options),
    onUnreadable(id: string, error: CofferError): void {
      leftOut.add(id);
      printNotice(`coffer: left out: ${error.message}`);
    },
  };
}

/**
 * Works as the person who is logged in at the address of this call. Throws Failure: not
 * authenticated without a session there; usage when the call names another service than the
 * session's, or for a wrong `--org`.
 */
export async function asPerson(options: DataOptions, env: NodeJS.ProcessEnv): Promise<PersonClient> {
  return (await asMember(options, env)).person;
}

/** A person, and the organization of a call. */
export interface Member {
  person: PersonClient;
  /** Its id; undefined without `--org`. */
  organization: string | undefined;
  /** Ids of the secrets and records that lists have omitted because they cannot be opened. */
  leftOut: ReadonlySet<string>;
}

/** As `asPerson`, with the organization of `--org`. */
export async function asMember(options: DataOptions, env: NodeJS.ProcessEnv): Promise<Member> {
  // Reports a malformed address also without a login.
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
    accept: hasTerminal() ? promptToAccept : undefined,
    onKeyringTrouble: (error: CofferError) =>
      printNotice(`coffer: your key pins could not be shared with your other devices: ${error.message}`),
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

/**
 * The configuration for acting as a machine: `--config`, else COFFER_CONFIG; undefined without
 * either.
 */
export function machineConfigurationOf(options: DataOptions, env: NodeJS.ProcessEnv): string | undefined {
  return options.config ?? (env["COFFER_CONFIG"] || undefined);
}

/**
 * Works as the machine of a configuration (a path or the JSON itself); with `--cache` also while
 * the service is unavailable.
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

/** Whether a configuration is the path of a file. Otherwise it is the JSON itself. */
async function isFile(configuration: string): Promise<boolean> {
  return stat(configuration).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Throws Failure (usage) for `--cache` without a machine, because the machine's key seals it. */
export function checkCache(options: CachedOptions, env: NodeJS.ProcessEnv): void {
  if (options.cache === undefined) return;
  if (options.cache === "") throw usage("--cache names no file");
  if (machineConfigurationOf(options, env) === undefined)
    throw usage("--cache is for machines: give the machine's configuration with --config or COFFER_CONFIG");
}

/** Secrets as the machine of a configuration, or else as the person. */
export async function secretsOf(options: CachedOptions, env: NodeJS.ProcessEnv): Promise<SecretsClient> {
  checkCache(options, env);
  const configuration = machineConfigurationOf(options, env);
  if (configuration === undefined) return (await asPerson(options, env)).secrets;
  return asMachine(configuration, options, env);
}

async function organizationId(person: PersonClient, nameOrId: string): Promise<string> {
  return pick(await person.organizations.nameable(), nameOrId, "organization").id;
}

/**
 * The object with that id or name, without regard to case. A text in the form of an id is never a
 * name: the service chooses names, and could select another object with one. Throws Failure: not
 * found, or usage when several have the name.
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

/** Lists the ids, one per line, that an ambiguous name may mean. */
export function severalHave(name: string, noun: string, things: readonly { id: string }[]): Failure {
  const ids = things.map(({ id }) => visible(id)).join("\n  ");
  return usage(`${things.length} have the name ${visible(name)}: name the ${noun} by its id, one of\n  ${ids}`);
}
