import { stat } from "node:fs/promises";
import {
  type CofferError,
  createClient,
  type MachineClient,
  type OfflineOptions,
  type PersonClient,
  personClient,
  type PersonSession,
  type SecretsClient,
} from "@coffer/sdk";
import { fileStorage, loadConfiguration } from "@coffer/sdk/node";
import type { AddressOptions, CachedOptions, DataOptions } from "../command-row.ts";
import { type Failure, usage } from "../failure.ts";
import { hasTerminal } from "../input/terminal.ts";
import { printNotice } from "../output/output.ts";
import { profileDirectory } from "../profile/paths.ts";
import { notLoggedIn, profileKeeper, readProfile } from "../profile/profile.ts";
import { configurationTrust, requireWritable } from "../trust/configuration-trust.ts";
import { promptToAccept } from "../trust/prompt-to-accept.ts";
import { trustFile } from "../trust/trust-file.ts";
import { type Address, namedAddress, resolveAddress } from "./address.ts";
import { mannersOf } from "./manners.ts";
import { pick } from "./pick.ts";
import { serviceKey } from "./same-service.ts";

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
 * the service is unavailable. With `mustStore`, throws Failure unless it is a writable file.
 */
export async function asMachine(
  configuration: string,
  options: CachedOptions,
  env: NodeJS.ProcessEnv,
  { mustStore = false }: { mustStore?: boolean } = {},
): Promise<MachineClient> {
  const loaded = await loadConfiguration(configuration);
  const { url } = await resolveAddress(options, env, { configuration: loaded.url });
  const offline = options.cache === undefined ? undefined : offlineIn(options.cache);
  const trust = (await isFile(configuration)) ? configurationTrust(configuration, loaded, { mustStore }) : undefined;
  if (mustStore && trust === undefined)
    throw usage("give the configuration as a file: what is trusted is stored there");
  if (mustStore) await requireWritable(configuration);
  const unsealedTitles = options.unsealedTitles === true;
  return createClient({ ...loaded, url }, { ...readerOptions(options), offline, trust, unsealedTitles });
}

/**
 * Stores a machine's responses in a file, and prints when they are used because the service is
 * unavailable, or when the file is unusable.
 */
function offlineIn(path: string): OfflineOptions {
  let said: number | undefined;
  return {
    storage: fileStorage(path),
    // The list of secrets and the folders may both use it; print the same message once.
    onOffline: (confirmed, { message }) => {
      if (said === confirmed.getTime()) return;
      said = confirmed.getTime();
      printNotice(`coffer: using the values of ${confirmed.toISOString().replace(/\.\d+Z$/, "Z")}: ${message}`);
    },
    onStorageError: (error) =>
      printNotice(`coffer: --cache ${path}: ${error instanceof Error ? error.message : "it failed"}`),
  };
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
