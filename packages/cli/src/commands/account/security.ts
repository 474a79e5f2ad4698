import { hostname } from "node:os";
import { type AccountSecurity, accountSecurity, recover as recoverAccount } from "@coffer/sdk/account";
import type { AddressOptions, Call, PersonOptions } from "../../command-row.ts";
import { readPassword, readRecoveryKey, withOwnPassword } from "../../input/inputs.ts";
import { print, printJson, printNotice } from "../../output/output.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { changeProfile, profileKeeper, readProfile } from "../../profile/profile.ts";
import { type OtpOptions, promptOtp } from "../../profile/prompt-otp.ts";
import { storeSession } from "../../profile/store-session.ts";
import { asPerson } from "../../service/access.ts";
import { resolveAddress } from "../../service/address.ts";
import { mannersOf } from "../../service/manners.ts";

async function securityOf(options: PersonOptions, env: NodeJS.ProcessEnv): Promise<AccountSecurity> {
  const { url } = await asPerson(options, env);
  return accountSecurity(profileKeeper(profileDirectory(env), url), url, mannersOf(options));
}

interface PasswordOptions extends PersonOptions, OtpOptions {
  passwordFile?: string;
  newPasswordFile?: string;
  newRecoveryKey?: boolean;
}

/** `coffer password`: changes the password; every other session ends. */
export async function changePassword({ options, env }: Call<PasswordOptions>): Promise<void> {
  const security = await securityOf(options, env);
  const password = await readPassword(options.passwordFile, env, false);
  const newPassword = await readPassword(options.newPasswordFile, {}, true, "New password", "--new-password-file");
  const { newRecoveryKey } = options;
  const changed = security.changePassword({ password, newPassword, newRecoveryKey, otp: promptOtp(options) });
  const { recoveryKey } = await withOwnPassword(changed, "it was not changed");
  printNotice("the password is changed, and every other session has ended");
  if (recoveryKey !== undefined) printRecoveryKey(recoveryKey, options);
}

interface RecoverOptions extends AddressOptions, OtpOptions {
  email: string;
  recoveryKeyFile?: string;
  passwordFile?: string;
  json?: boolean;
}

/** `coffer recover`: sets a new password with the recovery key, which is replaced, and logs in. */
export async function recover({ options, env }: Call<RecoverOptions>): Promise<void> {
  const directory = profileDirectory(env);
  const { url } = await resolveAddress(options, env, { profile: async () => (await readProfile(directory)).url });
  const recoveryKey = await readRecoveryKey(options.recoveryKeyFile);
  const newPassword = await readPassword(options.passwordFile, env, true, "New password");
  const profile = await changeProfile(directory, (before) => before);
  const device = { id: profile.device_id, name: hostname(), type: "cli" };
  const request = { url, email: options.email, recoveryKey, newPassword, device, otp: promptOtp(options) };
  const recovered = await recoverAccount(request, mannersOf(options));
  await storeSession(directory, recovered.session, options);
  printNotice(
    `logged in as ${recovered.session.user.email} at ${url} with the new password; every other session has ended`,
  );
  printRecoveryKey(recovered.recoveryKey, options);
}

interface TotpOptions extends PersonOptions, OtpOptions {
  passwordFile?: string;
}

/**
 * `coffer totp on`: starts to switch the second factor on, and shows the secret for an
 * authenticator.
 */
export async function totpOn({ options, env }: Call<TotpOptions>): Promise<void> {
  const security = await securityOf(options, env);
  const password = await readPassword(options.passwordFile, env, false);
  const started = security.startTotp({ password, otp: promptOtp(options) });
  const { secret, otpauth_url: address } = await withOwnPassword(started, "the second factor was not switched on");
  printNotice(
    "Add this to an authenticator, as a key or as an address; then `coffer totp confirm` with its first code",
  );
  if (options.json === true) printJson({ secret, otpauth_url: address });
  else print(secret, address);
}

/** `coffer totp confirm`: switches it on with the first code; prints the recovery codes once. */
export async function totpConfirm({ options, env }: Call<TotpOptions>): Promise<void> {
  const security = await securityOf(options, env);
  const recoveryCodes = await security.confirmTotp(await promptOtp(options)(false));
  printNotice("the second factor is on, and every other session has ended");
  printNotice("Each of these is a code once, for when the authenticator is lost. They are shown this once:");
  if (options.json === true) printJson({ recovery_codes: recoveryCodes });
  else print(...recoveryCodes);
}

/** `coffer totp off`: switches the second factor off. */
export async function totpOff({ options, env }: Call<TotpOptions>): Promise<void> {
  const security = await securityOf(options, env);
  const password = await readPassword(options.passwordFile, env, false);
  await withOwnPassword(security.stopTotp({ password, otp: promptOtp(options) }), "the second factor is still on");
  printNotice("the second factor is off, and every other session has ended");
}

function printRecoveryKey(recoveryKey: string, { json }: { json?: boolean }): void {
  printNotice(
    "The recovery key opens your keys without the password. It is shown this once: keep it off this machine.",
  );
  if (json === true) printJson({ recovery_key: recoveryKey });
  else print(recoveryKey);
}
