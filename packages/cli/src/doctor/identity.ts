import {
  type ClientView,
  CofferError,
  configurationText,
  isBootstrapped,
  type MachineConfiguration,
  machineFingerprint,
} from "@coffer/sdk";
import { loadConfiguration } from "@coffer/sdk/node";
import type { AddressOptions } from "../command-row.ts";
import { explain } from "../output/explain.ts";
import { profileDirectory, profileFile } from "../profile/paths.ts";
import { readProfile } from "../profile/profile.ts";
import { asMachine, asPerson } from "../service/access.ts";
import { serviceKey } from "../service/same-service.ts";
import { addressOf, ownAddresses } from "./addresses.ts";
import { type Finding, fine, problem, warning } from "./finding.ts";
import { checkPrivateFile } from "./private-file.ts";
import { checkSource } from "./source.ts";

const logIn = "coffer login --email you@example.com";
const soonMilliseconds = 7 * 86_400_000;

/** Checks the profile's file. */
export async function checkProfile(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const file = await checkPrivateFile("profile", profileFile(env));
  if (file === undefined) return [];
  return [
    file,
    ...(await readable("profile", () => readProfile(profileDirectory(env)), "move it away and log in again")),
  ];
}

/**
 * Checks a machine's configuration: a path, the JSON itself, or the base64 of it. No finding quotes
 * it.
 */
export async function checkConfiguration(configuration: string): Promise<Finding[]> {
  const check = "configuration";
  const again = "coffer bootstrap with a new one-time token writes another";
  const inline = configurationText(configuration) !== undefined;
  const file = inline ? fine(check, "given as text") : await checkPrivateFile(check, configuration);
  if (file === undefined)
    return [problem(check, "there is no such file, and it is neither JSON nor the base64 of JSON", again)];
  const unreadable = await readable(check, () => loadConfiguration(configuration), again);
  if (unreadable.length > 0) return [file, ...unreadable];
  const loaded = await loadConfiguration(configuration);
  const key = await keyOf(loaded, again);
  if (isBootstrapped(loaded)) return [file, key];
  return [file, key, problem(check, "its bootstrap was not finished", `the same coffer bootstrap command finishes it`)];
}

/** The fingerprint of the machine's key, computed from its private key. */
async function keyOf(configuration: MachineConfiguration, advice: string): Promise<Finding> {
  try {
    const { words, hex } = await machineFingerprint(configuration);
    return fine("fingerprint", `${words} (${hex})`);
  } catch (error) {
    return problem("fingerprint", explain(error)[0] ?? "it has no key", advice);
  }
}

/** Whether the session at an address is valid, and the source address that the service sees. */
export async function checkSession(
  url: string,
  { insecureHttp }: AddressOptions,
  env: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  const check = "session";
  const session = await readProfile(profileDirectory(env)).then(
    ({ sessions }) => sessions[serviceKey(url)],
    () => undefined,
  );
  if (session === undefined) return [warning(check, `no one is logged in at ${url}`, logIn)];
  try {
    const person = await asPerson(
      { url, ...(insecureHttp === undefined ? {} : { insecureHttp }), withoutWaiting: true },
      env,
    );
    const current = (await person.sessions.list()).find((one) => one.current);
    const valid = fine(check, `logged in as ${session.user.email}`);
    if (current?.ip == null) return [valid];
    const source = checkSource({ seen: current.ip, own: ownAddresses(), service: await addressOf(url) });
    return [
      valid,
      { ...source, message: `${source.message} (when the session was last renewed, ${current.last_used_at})` },
    ];
  } catch (error) {
    return [refusedBy(check, error, `log in again: ${logIn}`)];
  }
}

/** Whether a machine's token is accepted. Takes one request of the standard bucket. */
export async function checkMachine(
  configuration: string,
  options: AddressOptions,
  env: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  const check = "machine";
  try {
    const client = await (await asMachine(configuration, { ...options, withoutWaiting: true }, env)).client();
    const accepted = `accepted as ${client.name} (the check took one request of the standard limit)`;
    // The service shows people their source address in their sessions; machines cannot see theirs.
    const source = fine("source address", "machines cannot see it: `coffer client ls` shows it to an administrator");
    return [ending(client, accepted), noFolders(client), source].filter((finding) => finding !== undefined);
  } catch (error) {
    const advice =
      "revoked, expired, or known to another installation; else the clock or the base address is the reason (above). " +
      "A revoked machine needs a new one-time token";
    return [refusedBy(check, error, advice)];
  }
}

function ending({ expires_at: end }: ClientView, accepted: string): Finding {
  if (end === null || Date.parse(end) - Date.now() > soonMilliseconds) return fine("machine", accepted);
  return warning("machine", `${accepted}, until ${end}`, "it needs a new one-time token before then");
}

function noFolders({ folders }: ClientView): Finding | undefined {
  if (folders.length > 0) return undefined;
  return warning("machine", "it may use no folder", "an administrator gives it one");
}

function refusedBy(check: string, error: unknown, advice: string): Finding {
  const [message = ""] = explain(error);
  const code = error instanceof CofferError ? error.code : undefined;
  if (code === "rate_limited") return warning(check, message, "others behind this address use the limit up");
  if (code === "access_denied")
    return problem(check, message, "from this address it may not work (its --cidr), or its organization suspended it");
  if (code === "network" || code === "unavailable" || code === "internal_error")
    return problem(check, message, "the service is away: look at its readiness (--management) and logs");
  return problem(check, message, advice);
}

async function readable(check: string, read: () => Promise<unknown>, advice: string): Promise<Finding[]> {
  return read().then(
    () => [],
    (error: unknown) => [problem(check, explain(error)[0] ?? "it cannot be read", advice)],
  );
}
