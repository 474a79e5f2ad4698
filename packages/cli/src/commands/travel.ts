import type { TravelModeView } from "@coffer/sdk";
import { accountSecurity } from "@coffer/sdk/account";
import { asPerson, mannersOf, sessionAt } from "../access.ts";
import { askOtp } from "../ask-otp.ts";
import type { OtpOptions } from "../ask-otp.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { hideFromStores } from "../hide-from-stores.ts";
import { readPassword, withOwnPassword } from "../inputs.ts";
import { print, printJson, shortTime, tell } from "../output.ts";
import { profileDirectory } from "../paths.ts";
import { profileKeeper } from "../profile.ts";
import { pickMember } from "./member.ts";

interface TravelOptions extends PersonOptions {
  member?: string;
}

/** `coffer travel status`: whether one travels. */
export async function travelStatus({ options, env }: Call<PersonOptions>): Promise<void> {
  const mode = await (await asPerson(options, env)).travel.status();
  if (options.json === true) printJson(mode);
  else {
    // 1970: never switched.
    const since = Date.parse(mode.updated_at) === 0 ? "" : ` since ${shortTime(mode.updated_at)}`;
    print(`${mode.enabled ? "on" : "off"}${since}`);
  }
}

/** `coffer travel on`: hides what is not safe for travel, for oneself also in what this machine keeps. */
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

/** `coffer travel off`: ends it, for oneself with the password. */
export async function travelOff({ options, env }: Call<OffOptions>): Promise<void> {
  const person = await asPerson(options, env);
  if (options.member !== undefined) {
    const { user_id: id, email } = pickMember(await person.members.list(), options.member);
    say(await person.members.setTravel(id, false), email, options);
    return;
  }
  const password = await readPassword(options.passwordFile, env, false);
  const security = accountSecurity(profileKeeper(profileDirectory(env), person.url), person.url, mannersOf(options));
  const stopped = security.stopTravel({ password, otp: askOtp(options) });
  say(await withOwnPassword(stopped, "travel mode is still on"), "you", options);
}

function say(mode: TravelModeView, who: string, { json }: TravelOptions): void {
  tell(mode.enabled ? `travel mode is on for ${who}` : `travel mode is off for ${who}`);
  if (json === true) printJson(mode);
}
