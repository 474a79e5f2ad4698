import type { PersonSession } from "@coffer/sdk";
import type { AddressOptions } from "./command-row.ts";
import { clearStores } from "./clear-stores.ts";
import { endReplaced } from "./end-replaced.ts";
import { withHeldSignals } from "./held-signals.ts";
import { rememberSession } from "./profile.ts";

/**
 * Stores a new session, and ends the one that it replaces, like a logout. If that was another
 * person's, the files with that person's vaults are deleted too.
 */
export async function storeSession(
  directory: string,
  session: PersonSession,
  options: AddressOptions = {},
): Promise<void> {
  const replaced = await withHeldSignals(async () => {
    const before = await rememberSession(directory, session);
    // Afterwards no other process has the key that identifies the files.
    if (before !== undefined && before.user.id !== session.user.id) await clearStores(directory, before);
    return before;
  });
  if (replaced !== undefined) await endReplaced(replaced, options);
}
