import { hostname } from "node:os";
import { login as logIn } from "@coffer/sdk/account";
import { mannersOf } from "../access.ts";
import { resolveAddress } from "../address.ts";
import type { AddressOptions, Call } from "../command-row.ts";
import { readPassword } from "../inputs.ts";
import { storeSession } from "../store-session.ts";
import { printJson, printNotice } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { changeProfile, deviceCredentialOf, readProfile } from "../profile.ts";
import { promptOtp } from "../prompt-otp.ts";
import type { OtpOptions } from "../prompt-otp.ts";

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
