import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { CofferError } from "@coffer/sdk";
import type { PersonSession, SessionKeeper } from "@coffer/sdk";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "./failure.ts";
import { withFileLock } from "./file-lock.ts";
import { withHeldSignals } from "./held-signals.ts";
import { serviceKey } from "./same-service.ts";

/** What the command remembers about a person between calls. */
export interface Profile {
  version: 1;
  /** Names this machine towards the services; stays over logins. */
  device_id: string;
  /** Where the last registration or login was. */
  url?: string | undefined;
  /** One session at each service, by `serviceKey` of its address; gone after `logout`. */
  sessions: Record<string, PersonSession>;
  /** Files in which this machine keeps vaults for somebody, sealed. */
  stores: KeptStore[];
  /** What this machine shows at its next login, newest last. A logout does not remove it. */
  devices: DeviceCredential[];
}

/** Shows the service that this machine has logged in as a person before. Only for that service and that person. */
export interface DeviceCredential {
  /** `serviceKey` of the address that it is from. */
  service: string;
  /** Lower case. */
  email: string;
  credential: string;
}

const mostDeviceCredentials = 32;

/** A file that `coffer sync --store` writes, and for whom. */
export interface KeptStore {
  /** Absolute. */
  path: string;
  user_id: string;
  /** `serviceKey` of the address that it is from. */
  service: string;
}

/** The profile in a folder; a new one, not yet written, when there is none. Throws Failure for a file that is no profile. */
export async function readProfile(directory: string): Promise<Profile> {
  const path = fileOf(directory);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      return { version: 1, device_id: randomUUID(), sessions: {}, stores: [], devices: [] };
    throw new Failure(exitCodes.failure, `the profile ${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const found = JSON.parse(text) as Partial<Profile>;
    const { version, device_id, url, sessions = {}, stores = [], devices = [] } = found;
    if (version === 1 && typeof device_id === "string") return { version, device_id, url, sessions, stores, devices };
  } catch {
    // Said below.
  }
  throw new Failure(exitCodes.failure, `${path} is not a profile: move it away and log in again`);
}

/** Changes the profile under its lock, atomically, and returns it as it is then. */
export async function changeProfile(directory: string, change: (profile: Profile) => Profile): Promise<Profile> {
  await makePrivateDirectory(directory);
  return withFileLock(lockOf(directory), async () => {
    const changed = change(await readProfile(directory));
    await writeProfile(directory, changed);
    return changed;
  });
}

/**
 * Remembers a new session and its address as the last; returns the one that it takes the place of. Sessions that are
 * over, and so of no use to anybody, are dropped.
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

/** What this machine shows when it logs in as a person at a service; undefined when it has not logged in there before. */
export function deviceCredentialOf({ devices }: Profile, url: string, email: string): string | undefined {
  const [service, wanted] = [serviceKey(url), email.trim().toLowerCase()];
  return devices.find((each) => each.service === service && each.email === wanted)?.credential;
}

/** Forgets the session at a service. */
export async function forgetSession(directory: string, url: string): Promise<void> {
  await changeProfile(directory, (profile) => {
    const others = Object.entries(profile.sessions).filter(([key]) => key !== serviceKey(url));
    return { ...profile, sessions: Object.fromEntries(others) };
  });
}

/** Remembers a file in which a person's vaults are kept, until it is cleared. Returns whether it was not remembered before. */
export async function rememberStore(directory: string, store: KeptStore): Promise<boolean> {
  if ((await readProfile(directory)).stores.some((one) => isSameStore(one, store))) return false;
  await changeProfile(directory, (profile) => ({ ...profile, stores: [...profile.stores, store] }));
  return true;
}

/** Forgets such files. */
export async function forgetStores(directory: string, stores: readonly KeptStore[]): Promise<void> {
  if (stores.length === 0) return;
  await changeProfile(directory, (profile) => ({
    ...profile,
    stores: profile.stores.filter((one) => !stores.some((store) => isSameStore(one, store))),
  }));
}

function isSameStore(one: KeptStore, other: KeptStore): boolean {
  return one.path === other.path && one.user_id === other.user_id && one.service === other.service;
}

/**
 * Keeps the session at a service in the profile: of several processes whose token ends at the same time, one refreshes
 * it. Throws CofferError `invalid_token` once nobody is logged in there any more, so that whatever goes on ends as with a
 * session that was revoked.
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

/** Nobody is logged in: exit 3. `why` says more. */
export function notLoggedIn(why = "not logged in"): Failure {
  const how = "run `coffer login --email you@example.com`, or `coffer register` for a new account";
  return new Failure(exitCodes.notAuthenticated, `${why}: ${how}`);
}

/** Writes it whole, under its lock. What is left of a write that was broken off holds the user key, and goes. */
async function writeProfile(directory: string, profile: Profile): Promise<void> {
  const text = `${JSON.stringify(profile, null, 2)}\n`;
  await withHeldSignals(() => writePrivateFile(fileOf(directory), text, { alone: true }));
}

const fileOf = (directory: string): string => join(directory, "profile.json");
const lockOf = (directory: string): string => join(directory, "profile.lock");
