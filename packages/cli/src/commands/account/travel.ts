import type { TravelModeView } from "@coffer/sdk";
import { accountSecurity } from "@coffer/sdk/account";
import type { Call, PersonOptions } from "../../command-row.ts";
import { readPassword, withOwnPassword } from "../../input/inputs.ts";
import { print, printJson, printNotice, shortTime } from "../../output/output.ts";
import { hideFromStores } from "../../profile/hide-from-stores.ts";
import { profileDirectory } from "../../profile/paths.ts";
import { profileKeeper } from "../../profile/profile.ts";
import { type OtpOptions, promptOtp } from "../../profile/prompt-otp.ts";
import { asPerson, sessionAt } from "../../service/access.ts";
import { mannersOf } from "../../service/manners.ts";
import { pickMember } from "../people/member.ts";

interface TravelOptions extends PersonOptions {
  member?: string;
}

/** `coffer travel status` */
export async function travelStatus({ options, env }: Call<PersonOptions>): Promise<void> {
  const mode = await (await asPerson(options, env)).travel.status();
  if (options.json === true) printJson(mode);
  else {
    // 1970 means that it was never switched.
    const since = Date.parse(mode.updated_at) === 0 ? "" : ` since ${shortTime(mode.updated_at)}`;
    print(`${mode.enabled ? "on" : "off"}${since}`);
  }
}

/**
 * `coffer travel on`: hides vaults that are not safe for travel; for oneself also in this machine's
 * files.
 */
export async function travelOn({ options, env }: Call<TravelOptions>): Promise<void> {
  const person = await asPerson(options, env);
  if (options.member !== undefined) {
    const { user_id: id, email } = pickMember(await person.members.list(), options.member);
    say(await person.members.setTravel(id, true), email, options);
    return;
  }
  say(await person.travel.start(), "you", options);
  await person.travel.forgetHidden();
  await hideFromStores(profileDirectory(env), person, await sessionAt(person.url, env));
}

interface OffOptions extends TravelOptions, OtpOptions {
  passwordFile?: string;
}

/** `coffer travel off`: shows them again; for oneself with the password. */
export async function travelOff({ options, env }: Call<OffOptions>): Promise<void> {
  const person = await asPerson(options, env);
  if (options.member !== undefined) {
    const { user_id: id, email } = pickMember(await person.members.list(), options.member);
    say(await person.members.setTravel(id, false), email, options);
    return;
  }
  const password = await readPassword(options.passwordFile, env, false);
  const security = accountSecurity(profileKeeper(profileDirectory(env), person.url), person.url, mannersOf(options));
  const stopped = security.stopTravel({ password, otp: promptOtp(options) });
  say(await withOwnPassword(stopped, "travel mode is still on"), "you", options);
}

function say(mode: TravelModeView, who: string, { json }: TravelOptions): void {
  printNotice(mode.enabled ? `travel mode is on for ${who}` : `travel mode is off for ${who}`);
  if (json === true) printJson(mode);
}
