import { CofferError, personClient } from "@coffer/sdk";
import type { PersonSession } from "@coffer/sdk";
import { mannersOf } from "./access.ts";
import type { AddressOptions } from "./command-row.ts";
import { tell } from "./output.ts";

/**
 * Ends, on its service, a session that another one took the place of in the profile. When that is not possible it is
 * said: nobody holds it any more, and it ends by itself.
 */
export async function endReplaced(session: PersonSession, options: AddressOptions = {}): Promise<void> {
  try {
    await personClient(session, session.url, mannersOf(options)).logout();
    tell(`ended the session of ${session.user.email} that was here before`);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    // A session that the service itself no longer knows has ended already.
    if (error.foreign || error.status !== 401)
      tell(`coffer: the session of ${session.user.email} that was here before could not be ended: ${error.message}`);
  }
}
