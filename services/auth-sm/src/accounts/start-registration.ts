import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import type { RegistrationStart } from "./bodies.ts";
import { respondToRegistration } from "./opaque.ts";
import { requireSignups } from "./signups.ts";

/** POST /api/auth/register/start: answers a taken e-mail like a free one. */
export async function startRegistration(
  deps: Deps,
  { body }: Call<unknown, unknown, RegistrationStart>,
): Promise<{ registration_response: string }> {
  requireSignups(deps.config);
  const { newestSetup } = await deps.keys.present();
  return { registration_response: respondToRegistration(newestSetup.setup, body.email, body.registration_request) };
}
