import { readFile, stat } from "node:fs/promises";
import { cacheKey, contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import type { PersonSession } from "@coffer/sdk";
import { fileStorage } from "@coffer/sdk/node";
import { exitCodes } from "./failure.ts";
import { tell } from "./output.ts";
import { forgetStores, readProfile } from "./profile.ts";
import type { KeptStore } from "./profile.ts";
import { serviceKey } from "./same-service.ts";

/**
 * Removes the files in which this machine keeps a person's vaults of one service, as far as they still are that: what is
 * at their place by now, and is not sealed under the person's key, stays. One that cannot be removed is said, is a failure,
 * and is tried again the next time.
 */
export async function clearStores(directory: string, session: PersonSession): Promise<void> {
  const service = serviceKey(session.url);
  const { stores } = await readProfile(directory);
  const done: KeptStore[] = [];
  for (const store of stores) {
    if (store.service !== service || store.user_id !== session.user.id) continue;
    try {
      if (await isReplicaOf(session, store.path)) {
        await fileStorage(store.path).clear();
        tell(`removed ${store.path}`);
      }
      done.push(store);
    } catch (error) {
      tell(`coffer: ${store.path} could not be removed: ${error instanceof Error ? error.message : "it failed"}`);
      process.exitCode ??= exitCodes.failure;
    }
  }
  await forgetStores(directory, done);
}

/** Whether a file holds what was kept for this person. Throws when it cannot be read; one that is not there, or is a folder or a pipe, is none. */
export async function isReplicaOf({ user, user_key }: PersonSession, path: string): Promise<boolean> {
  let text: string;
  try {
    if (!(await stat(path)).isFile()) return false;
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  const key = await cacheKey(decodeBase64(user_key));
  return unboxBound(key, text.trim(), contexts.replica(user.id)).then(
    () => true,
    () => false,
  );
}
