import { client, ready } from "@serenity-kit/opaque";

// The client's half of OPAQUE as `@coffer/crypto/opaque` has it, with next to no stretching of the
// password. That is the client's own matter, which no message shows; a quarter of a second for each
// person of each test would add up to minutes.

const keyStretching = { "argon2id-custom": { iterations: 1, memory: 8, parallelism: 1 } };

/** Finishes a registration with the server's answer to its start; the registration record, base64url. */
export async function finishRegistration(answer: {
  state: string;
  registrationResponse: string;
  password: string;
}): Promise<string> {
  await ready;
  const { state: clientRegistrationState, registrationResponse, password } = answer;
  return client.finishRegistration({ clientRegistrationState, registrationResponse, password, keyStretching })
    .registrationRecord;
}

/**
 * Finishes a login with the server's answer to its start; its proof, base64url. Throws when the
 * password is wrong.
 */
export async function finishLogin(answer: { state: string; loginResponse: string; password: string }): Promise<string> {
  await ready;
  const { state: clientLoginState, loginResponse, password } = answer;
  const login = client.finishLogin({ clientLoginState, loginResponse, password, keyStretching });
  if (login === undefined) throw new Error("wrong e-mail or password");
  return login.finishLoginRequest;
}
