import { CofferError } from "@coffer/sdk";
import { asPerson, sessionAt } from "../access.ts";
import { clearStores } from "../clear-stores.ts";
import type { AddressOptions, Call } from "../command-row.ts";
import { exitCodeFor } from "../failure.ts";
import { withHeldSignals } from "../held-signals.ts";
import { tell } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { forgetSession } from "../profile.ts";

/**
 * `coffer logout`: ends the session and forgets it and the unlocked key, and removes what `coffer sync --store` keeps here
 * of the person's vaults. All that happens also when the service cannot be told; that is said, and the exit code is the
 * failure's.
 */
export async function logout({ options, env }: Call<AddressOptions>): Promise<void> {
  const person = await asPerson(options, env);
  const directory = profileDirectory(env);
  const session = await sessionAt(person.url, env);
  try {
    await person.logout();
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    // A session that the service no longer knows, or that another `logout` has forgotten, has ended already. What a proxy
    // says of it is no word of the service.
    const ended = !error.foreign && (error.status === 401 || error.code === "invalid_token");
    if (!ended) {
      tell(`coffer: the session could not be ended on the service: ${error.message}`);
      process.exitCode = exitCodeFor(error);
    }
  }
  // Once the session is forgotten no other call finds the files.
  await withHeldSignals(async () => {
    await forgetSession(directory, person.url);
    await clearStores(directory, session);
    tell(`logged out at ${person.url}`);
  });
}
