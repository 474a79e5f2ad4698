import { hostname } from "node:os";
import { inviteTokenPrefix } from "@coffer/crypto";
import { register as registerAccount } from "@coffer/sdk/account";
import type { AddressOptions, Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { readPassword, readToken } from "../../input/inputs.ts";
import { print, printJson, printNotice } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { changeProfile, readProfile } from "../../profile/profile.ts";
import { storeSession } from "../../profile/store-session.ts";
import { asPerson } from "../../service/access.ts";
import { resolveAddress } from "../../service/address.ts";
import { mannersOf } from "../../service/manners.ts";
import { trustFile } from "../../trust/trust-file.ts";

interface Options extends AddressOptions {
  email: string;
  name?: string;
  org?: string;
  passwordFile?: string;
  invite?: boolean;
  json?: boolean;
}

/** `coffer register`: registers an account, with `--org` also an organization, and logs in. */
export async function register({ options, env }: Call<Options>): Promise<void> {
  const directory = profileDirectory(env);
  const { url } = await resolveAddress(options, env, { profile: async () => (await readProfile(directory)).url });
  const inviteToken = options.invite === true ? await readToken(env, "Invitation") : undefined;
  if (options.invite === true && inviteToken === undefined)
    throw usage("no invitation: give it on stdin or in COFFER_TOKEN");
  const password = await readPassword(options.passwordFile, env, true);
  // Checks that the profile can be written before anything is created.
  const profile = await changeProfile(directory, (before) => before);
  const { session, recoveryKey, trust } = await registerAccount(
    {
      url,
      email: options.email,
      name: options.name,
      organization: options.org,
      inviteToken,
      password,
      device: { id: profile.device_id, name: hostname(), type: "cli" },
    },
    mannersOf(options),
  );
  await trustFile(directory, url, session.user.id).change(() => trust);
  await storeSession(directory, session, options);
  printNotice(`registered ${session.user.email} at ${url}, and logged in`);
  printNotice(
    "The recovery key opens your keys without the password. It is shown this once: keep it off this machine.",
  );
  if (options.json === true) printJson({ user: session.user, url, recovery_key: recoveryKey });
  else print(recoveryKey);
  // Only after the recovery key is shown, because it is available only once.
  if (inviteToken?.startsWith(inviteTokenPrefix) === true) {
    const there = { url, ...(options.insecureHttp === true ? { insecureHttp: true } : {}) };
    const organization = await (await asPerson(there, env)).invites.accept(inviteToken);
    printNotice(`you are a member of ${organization.name}`);
  }
}
