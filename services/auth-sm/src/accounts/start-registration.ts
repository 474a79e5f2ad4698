import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { isRecordOfSetup } from "../store/accounts/users.ts";
import { beginRegistration, registrant } from "./pending-registration.ts";
import type { RegistrationStart } from "./bodies.ts";
import { requireSignups } from "./signups.ts";

/** POST /api/auth/register/start: Answers a taken e-mail like a free one. */
export async function startRegistration(
  deps: Deps,
  { body }: Call<unknown, unknown, RegistrationStart>,
): Promise<{ registration_response: string }> {
  requireSignups(deps.config);
  const keys = await deps.keys.present();
  const { email, registration_request: registrationRequest } = body;
  const identifier = await identifierFor(deps, keys, email);
  return beginRegistration(deps, keys, { starter: registrant(keys, email), identifier, registrationRequest });
}

/**
 * The OPAQUE identifier of a registration. An attacker can compare the answers to a registration
 * and to a login: they are equal when one setup makes both for one e-mail. The oldest setup answers
 * logins of unknown e-mails and the newest answers registrations, so with several setups those
 * answers differ. They would be equal only for a person whose password was set with the newest
 * setup. That person cannot register again, so the answer is made for an identifier that is no
 * e-mail: it has a line break.
 */
async function identifierFor({ database }: Deps, { newestSetup, setups }: KeyRing, email: string): Promise<string> {
  if (newestSetup.id === setups[0].id) return email;
  return (await isRecordOfSetup(database.pool, email, newestSetup.id)) ? `${email}\nis taken` : email;
}
