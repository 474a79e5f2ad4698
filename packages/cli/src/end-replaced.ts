import { CofferError, personClient } from "@coffer/sdk";
import type { PersonSession } from "@coffer/sdk";
import { mannersOf } from "./access.ts";
import type { AddressOptions } from "./command-row.ts";
import { printNotice } from "./output.ts";

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
