import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
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
  return beginRegistration(deps, keys, { starter: registrant(keys, email), email, registrationRequest });
}
