import { readFile, stat } from "node:fs/promises";
import { cacheKey, contexts, decodeBase64, unboxBound } from "@coffer/crypto";
import type { PersonSession } from "@coffer/sdk";
import { fileStorage } from "@coffer/sdk/node";
import { exitCodes } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { printNotice } from "../output/output.ts";
import { serviceKey } from "../service/same-service.ts";
import { forgetStores, readProfile, type StoredFile } from "./profile.ts";

/**
 * Deletes the files with a person's vaults of one service. A file that is not sealed under the
 * person's key stays, because another program has replaced it. A file that cannot be deleted is
 * reported, is a failure, and is retried the next time.
 */
export async function clearStores(directory: string, session: PersonSession): Promise<void> {
  const service = serviceKey(session.url);
  const { stores } = await readProfile(directory);
  const done: StoredFile[] = [];
  for (const store of stores) {
    if (store.service !== service || store.user_id !== session.user.id) continue;
    try {
      if (await isReplicaOf(session, store.path)) {
        await fileStorage(store.path).clear();
        printNotice(`removed ${store.path}`);
      }
      done.push(store);
    } catch (error) {
      printNotice(
        `coffer: ${store.path} could not be removed: ${error instanceof Error ? error.message : "it failed"}`,
      );
      process.exitCode ??= exitCodes.failure;
    }
  }
  await forgetStores(directory, done);
}

/**
 * Whether a file contains this person's vaults. Throws when it cannot be read. A missing file, a
 * directory or a pipe does not.
 */
export async function isReplicaOf({ user, user_key }: PersonSession, path: string): Promise<boolean> {
  let text: string;
  try {
    if (!(await stat(path)).isFile()) return false;
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  const key = await cacheKey(decodeBase64(user_key));
  return unboxBound(key, text.trim(), contexts.replica(user.id)).then(
    () => true,
    () => false,
  );
}
