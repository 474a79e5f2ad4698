import type { PersonSession } from "@coffer/sdk";
import type { AddressOptions } from "./command-row.ts";
import { clearStores } from "./clear-stores.ts";
import { endReplaced } from "./end-replaced.ts";
import { withHeldSignals } from "./held-signals.ts";
import { rememberSession } from "./profile.ts";

/**
 * Remembers a new session, and ends the one that it takes the place of, as a logout would: was that another person's, the
 * files in which this machine keeps that person's vaults go too.
 */
export async function keepSession(
  directory: string,
  session: PersonSession,
  options: AddressOptions = {},
): Promise<void> {
  const replaced = await withHeldSignals(async () => {
    const before = await rememberSession(directory, session);
    // Nobody else has the key by which the files are known from then on.
    if (before !== undefined && before.user.id !== session.user.id) await clearStores(directory, before);
    return before;
  });
  if (replaced !== undefined) await endReplaced(replaced, options);
}
