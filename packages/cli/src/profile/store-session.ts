import { CofferError, personClient, type PersonSession } from "@coffer/sdk";
import type { AddressOptions } from "../command-row.ts";
import { withHeldSignals } from "../files/held-signals.ts";
import { printNotice } from "../output/output.ts";
import { mannersOf } from "../service/manners.ts";
import { clearStores } from "./clear-stores.ts";
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

/**
 * Ends a session on its service after another one replaced it in the profile. A failure is printed:
 * the session is no longer stored, and expires.
 */
export async function endReplaced(session: PersonSession, options: AddressOptions = {}): Promise<void> {
  try {
    await personClient(session, session.url, mannersOf(options)).logout();
    printNotice(`ended the session of ${session.user.email} that was here before`);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    // A session that the service does not know has ended already.
    if (error.foreign || error.status !== 401)
      printNotice(
        `coffer: the session of ${session.user.email} that was here before could not be ended: ${error.message}`,
      );
  }
}
