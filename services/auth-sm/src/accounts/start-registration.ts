import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { isRecordOfSetup } from "../store/users.ts";
import { beginRegistration, registrant } from "./begun-registration.ts";
import type { RegistrationStart } from "./bodies.ts";
import { requireSignups } from "./signups.ts";

/** POST /api/auth/register/start: answers a taken e-mail like a free one. */
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
 * By what OPAQUE is to know who registers. Its answers to a registration and to a login can be compared: they are equal
 * where both are made for one e-mail by one setup. A login with an e-mail that nobody has is answered by the oldest setup,
 * a registration by the newest, so once there are several these are unequal; they would be equal for a person whose
 * password was set by the newest. That person cannot be registered again, so the answer may be for somebody else: no
 * e-mail has a line break.
 */
async function identifierFor({ database }: Deps, { newestSetup, setups }: KeyRing, email: string): Promise<string> {
  if (newestSetup.id === setups[0].id) return email;
  return (await isRecordOfSetup(database.pool, email, newestSetup.id)) ? `${email}\nis taken` : email;
}
