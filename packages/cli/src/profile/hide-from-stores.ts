import type { PersonClient, PersonSession } from "@coffer/sdk";
import { exitCodes, Failure } from "../failure.ts";
import { printNotice } from "../output/output.ts";
import { serviceKey } from "../service/same-service.ts";
import { isReplicaOf } from "./clear-stores.ts";
import { onlyFails } from "./only-fails.ts";
import { readProfile } from "./profile.ts";
import { watchedStore } from "./watched-store.ts";

/**
 * Removes invisible vaults from all files with a person's vaults of one service. Skips files that
 * another program has replaced. Throws Failure, after all were tried, when one could not be
 * updated.
 */
export async function hideFromStores(directory: string, person: PersonClient, session: PersonSession): Promise<void> {
  const service = serviceKey(session.url);
  const stores = (await readProfile(directory)).stores.filter(
    (store) => store.service === service && store.user_id === session.user.id,
  );
  let failures = 0;
  for (const { path } of stores)
    try {
      if (!(await isReplicaOf(session, path))) continue;
      await bringUpToDate(path, person);
      printNotice(`${path} is up to date`);
    } catch (error) {
      failures += 1;
      printNotice(
        `coffer: ${path} could not be brought up to date: ${error instanceof Error ? error.message : "it failed"}`,
      );
    }
  if (failures > 0)
    throw new Failure(
      exitCodes.failure,
      "what is hidden may still be in there: `coffer travel on` again tries it again, or remove the file",
    );
}

/** One sync. The next `coffer sync` reports unreadable records. */
async function bringUpToDate(path: string, person: PersonClient): Promise<void> {
  const store = watchedStore(path);
  const away = onlyFails();
  let unwritten: unknown;
  const device = await person.sync({
    storage: store.storage,
    onChange: () => undefined,
    onAway: (error) => away.reject(error),
    onStorageError: (error) => void (unwritten = error),
  });
  try {
    await Promise.race([device.ready, away.promise]);
    await device.forgetHidden();
  } finally {
    await device.stop();
  }
  if (store.failed()) throw unwritten;
}
