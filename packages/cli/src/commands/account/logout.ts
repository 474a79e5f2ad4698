import { CofferError } from "@coffer/sdk";
import type { AddressOptions, Call } from "../../command-row.ts";
import { exitCodeFor } from "../../failure.ts";
import { withHeldSignals } from "../../files/held-signals.ts";
import { printNotice } from "../../output/output.ts";
import { clearStores } from "../../profile/clear-stores.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { forgetSession } from "../../profile/profile.ts";
import { asPerson, sessionAt } from "../../service/access.ts";

/**
 * `coffer logout`: ends the session, deletes it and the unlocked key from the profile, and deletes
 * the files of `coffer sync --store`. It does all of that also when the service does not respond;
 * then it prints a message and exits with the failure's code.
 */
export async function logout({ options, env }: Call<AddressOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const directory = profileDirectory(env);
  const session = await sessionAt(person.url, env);
  try {
    await person.logout();
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    // A session that the service does not know, or that another `logout` has removed, has ended
    // already. A proxy's response does not count.
    const ended = !error.foreign && (error.status === 401 || error.code === "invalid_token");
    if (!ended) {
      printNotice(`coffer: the session could not be ended on the service: ${error.message}`);
      process.exitCode = exitCodeFor(error);
    }
  }
  // After the session is removed no other call finds the files.
  await withHeldSignals(async () => {
    await forgetSession(directory, person.url);
    await clearStores(directory, session);
    printNotice(`logged out at ${person.url}`);
  });
}
