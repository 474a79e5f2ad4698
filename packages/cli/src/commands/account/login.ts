import { hostname } from "node:os";
import { login as logIn } from "@coffer/sdk/account";
import type { AddressOptions, Call } from "../../command-row.ts";
import { readPassword } from "../../input/inputs.ts";
import { printJson, printNotice } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { changeProfile, deviceCredentialOf, readProfile } from "../../profile/profile.ts";
import { type OtpOptions, promptOtp } from "../../profile/prompt-otp.ts";
import { storeSession } from "../../profile/store-session.ts";
import { resolveAddress } from "../../service/address.ts";
import { mannersOf } from "../../service/manners.ts";

interface Options extends AddressOptions, OtpOptions {
  email: string;
  passwordFile?: string;
  json?: boolean;
}

/** `coffer login`: opens a session with the password, which never leaves this machine. */
export async function login({ options, env }: Call<Options>): Promise<void> {
  const directory = profileDirectory(env);
  const { url } = await resolveAddress(options, env, { profile: async () => (await readProfile(directory)).url });
  const password = await readPassword(options.passwordFile, env, false);
  const profile = await changeProfile(directory, (before) => before);
  const device = { id: profile.device_id, name: hostname(), type: "cli" };
  const deviceCredential = deviceCredentialOf(profile, url, options.email);
  const session = await logIn(
    { url, email: options.email, password, device, deviceCredential, otp: promptOtp(options) },
    mannersOf(options),
  );
  await storeSession(directory, session, options);
  printNotice(`logged in as ${session.user.email} at ${url}`);
  if (options.json === true) printJson({ user: session.user, url, session_id: session.session_id });
}
