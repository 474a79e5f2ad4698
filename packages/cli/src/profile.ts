import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import type { PersonSession, SessionKeeper } from "@coffer/sdk";
import { makePrivateDirectory, writePrivateFile } from "@coffer/sdk/node";
import { exitCodes, Failure } from "./failure.ts";
import { withFileLock } from "./file-lock.ts";

/** What the command remembers about a person between calls. `session` is gone after `logout`. */
export interface Profile {
  version: 1;
  /** Names this machine towards the service; stays over logins. */
  device_id: string;
  url?: string | undefined;
  session?: PersonSession | undefined;
}

/** The profile in a folder; a new one, not yet written, when there is none. Throws Failure for a file that is no profile. */
export async function readProfile(directory: string): Promise<Profile> {
  const path = fileOf(directory);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { version: 1, device_id: randomUUID() };
    throw new Failure(exitCodes.failure, `the profile ${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const found = JSON.parse(text) as Partial<Profile>;
    if (found.version === 1 && typeof found.device_id === "string") return found as Profile;
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
    await writePrivateFile(fileOf(directory), `${JSON.stringify(changed, null, 2)}\n`);
    return changed;
  });
}

/** Keeps the session in the profile: of several processes whose token ends at the same time, one refreshes it. */
export function profileKeeper(directory: string): SessionKeeper {
  const current = async (): Promise<PersonSession> => {
    const { session } = await readProfile(directory);
    if (session === undefined) throw notLoggedIn();
    return session;
  };
  return {
    current,
    renew: (staleToken, refresh) =>
      withFileLock(lockOf(directory), async () => {
        const profile = await readProfile(directory);
        if (profile.session === undefined) throw notLoggedIn();
        if (profile.session.access_token !== staleToken) return profile.session;
        const session = await refresh(profile.session);
        await writePrivateFile(fileOf(directory), `${JSON.stringify({ ...profile, session }, null, 2)}\n`);
        return session;
      }),
  };
}

/** Nobody is logged in here: exit 3. */
export function notLoggedIn(): Failure {
  return new Failure(exitCodes.notAuthenticated, "not logged in: run `coffer login --email you@example.com`");
}

const fileOf = (directory: string): string => join(directory, "profile.json");
const lockOf = (directory: string): string => join(directory, "profile.lock");
