import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CofferError, type PersonSession, type SessionKeeper } from "@coffer/sdk";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { withFileLock } from "../files/file-lock.ts";
import { withHeldSignals } from "../files/held-signals.ts";
import { serviceKey } from "../service/same-service.ts";

/** The data that the command stores about a person between calls. */
export interface Profile {
  version: 1;
  /** Identifies this machine to the services; logins do not change it. */
  device_id: string;
  /** The address of the last registration or login. */
  url?: string | undefined;
  /** One session per service, by `serviceKey` of its address. `logout` removes it. */
  sessions: Record<string, PersonSession>;
  /** Files with sealed vaults. */
  stores: StoredFile[];
  /** The device credentials for the next logins, newest last. A logout does not remove them. */
  devices: DeviceCredential[];
  /**
   * SHA-256 of the user key under the recovery key, by `serviceKey` and user: a recovery key has
   * opened it here. Otherwise a service could make backups useless.
   */
  recovery: Record<string, string>;
}

/**
 * Proves to the service that this machine has logged in as a person before. Only for that service
 * and person.
 */
export interface DeviceCredential {
  /** `serviceKey` of its service's address. */
  service: string;
  /** Lower case. */
  email: string;
  credential: string;
}

const mostDeviceCredentials = 32;

/** A file of `coffer sync --store`, and its person. */
export interface StoredFile {
  /** Absolute. */
  path: string;
  user_id: string;
  /** `serviceKey` of its service's address. */
  service: string;
}

/**
 * The profile in a directory; a new, unwritten one when there is none. Throws Failure for a
 * malformed file.
 */
export async function readProfile(directory: string): Promise<Profile> {
  const path = fileOf(directory);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT")
      return { version: 1, device_id: randomUUID(), sessions: {}, stores: [], devices: [], recovery: {} };
    throw new Failure(exitCodes.failure, `the profile ${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const found = JSON.parse(text) as Partial<Profile>;
    const { version, device_id, url, sessions = {}, stores = [], devices = [], recovery = {} } = found;
    if (version === 1 && typeof device_id === "string")
      return { version, device_id, url, sessions, stores, devices, recovery };
  } catch {
    // Reported below.
  }
  throw new Failure(exitCodes.failure, `${path} is not a profile: move it away and log in again`);
}

/** Changes the profile atomically under its lock, and returns the result. */
export async function changeProfile(directory: string, change: (profile: Profile) => Profile): Promise<Profile> {
  await makePrivateDirectory(directory);
  return withFileLock(lockOf(directory), async () => {
    const changed = change(await readProfile(directory));
    await writeProfile(directory, changed);
    return changed;
  });
}

/**
 * Stores a new session and its address as the last one; returns the session that it replaces. Drops
 * expired sessions.
 */
export async function rememberSession(directory: string, session: PersonSession): Promise<PersonSession | undefined> {
  const key = serviceKey(session.url);
  let replaced: PersonSession | undefined;
  await changeProfile(directory, (before) => {
    replaced = before.sessions[key];
    const alive = Object.entries(before.sessions).filter(([, one]) => one.refresh_expires_at * 1000 > Date.now());
    const sessions = { ...Object.fromEntries(alive), [key]: session };
    return { ...before, url: session.url, sessions, devices: withCredential(before.devices, session) };
  });
  return replaced;
}

function withCredential(devices: readonly DeviceCredential[], session: PersonSession): DeviceCredential[] {
  const { device_credential: credential } = session;
  if (credential === undefined) return [...devices];
  const [service, email] = [serviceKey(session.url), session.user.email.toLowerCase()];
  const others = devices.filter((each) => each.service !== service || each.email !== email);
  return [...others, { service, email, credential }].slice(-mostDeviceCredentials);
}

/**
 * This machine's device credential for a person at a service; undefined before the first login
 * there.
 */
export function deviceCredentialOf({ devices }: Profile, url: string, email: string): string | undefined {
  const [service, wanted] = [serviceKey(url), email.trim().toLowerCase()];
  return devices.find((each) => each.service === service && each.email === wanted)?.credential;
}

export async function forgetSession(directory: string, url: string): Promise<void> {
  await changeProfile(directory, (profile) => {
    const others = Object.entries(profile.sessions).filter(([key]) => key !== serviceKey(url));
    return { ...profile, sessions: Object.fromEntries(others) };
  });
}

/**
 * Stores the path of a file with a person's vaults, until the file is cleared. Returns whether it
 * is new.
 */
export async function rememberStore(directory: string, store: StoredFile): Promise<boolean> {
  if ((await readProfile(directory)).stores.some((one) => isSameStore(one, store))) return false;
  await changeProfile(directory, (profile) => ({ ...profile, stores: [...profile.stores, store] }));
  return true;
}

export async function forgetStores(directory: string, stores: readonly StoredFile[]): Promise<void> {
  if (stores.length === 0) return;
  await changeProfile(directory, (profile) => ({
    ...profile,
    stores: profile.stores.filter((one) => !stores.some((store) => isSameStore(one, store))),
  }));
}

function isSameStore(one: StoredFile, other: StoredFile): boolean {
  return one.path === other.path && one.user_id === other.user_id && one.service === other.service;
}

/**
 * Stores the session at a service in the profile: of several processes whose token expires at the
 * same time, one refreshes it. Throws CofferError `invalid_token` after a logout, so that running
 * work ends as with a revoked session.
 */
export function profileKeeper(directory: string, url: string): SessionKeeper {
  const key = serviceKey(url);
  const sessionIn = ({ sessions }: Profile): PersonSession => {
    const session = sessions[key];
    if (session === undefined) throw new CofferError("invalid_token", notLoggedIn().message);
    return session;
  };
  return {
    current: async () => sessionIn(await readProfile(directory)),
    renew: (staleToken, refresh) =>
      withFileLock(lockOf(directory), async () => {
        const profile = await readProfile(directory);
        const present = sessionIn(profile);
        if (present.access_token !== staleToken) return present;
        const session = await refresh(present);
        await writeProfile(directory, { ...profile, sessions: { ...profile.sessions, [key]: session } });
        return session;
      }),
  };
}

/** Exit 3 without a login. `why` adds the reason. */
export function notLoggedIn(why = "not logged in"): Failure {
  const how = "run `coffer login --email you@example.com`, or `coffer register` for a new account";
  return new Failure(exitCodes.notAuthenticated, `${why}: ${how}`);
}

/**
 * Writes the file under its lock. Removes the temporary file of an interrupted write, which
 * contains the user key.
 */
async function writeProfile(directory: string, profile: Profile): Promise<void> {
  const text = `${JSON.stringify(profile, null, 2)}\n`;
  await withHeldSignals(() => writePrivateFile(fileOf(directory), text, { alone: true }));
}

const fileOf = (directory: string): string => join(directory, "profile.json");
const lockOf = (directory: string): string => join(directory, "profile.lock");
