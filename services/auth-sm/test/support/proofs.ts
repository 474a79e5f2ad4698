import { randomBytes } from "node:crypto";
import { startRegistration } from "@coffer/crypto/opaque";
import { newRecoveryKey, readRecoveryKey } from "@coffer/crypto";
import { TOTP } from "otpauth";
import { type Answer, call } from "./call.ts";
import { finishRegistration } from "./opaque.ts";
import { type Credentials, device, loginProof, type Person, register, registration, sealed } from "./people.ts";

type Service = { url: string };

/** The fields of a fresh proof of a person's password. */
export async function proofOf(service: Service, person: Credentials, otp?: string) {
  const { login_id, finish_login_request } = await loginProof(service, person);
  return { login_id, finish_login_request, ...(otp === undefined ? {} : { otp }) };
}

/** As long as a real one, and wrong. */
export const wrongProof = Buffer.alloc(64, 7).toString("base64url");

/** The record of a new password, by whichever endpoint answers its first half. */
export async function newRecord(
  password: string,
  begin: (registrationRequest: string) => Promise<string>,
): Promise<string> {
  const { state, registrationRequest } = await startRegistration(password);
  const registrationResponse = await begin(registrationRequest);
  return finishRegistration({ state, registrationResponse, password });
}

/** What a change of the password sends besides the proof. */
export async function newPassword(service: Service, { token }: { token: string }, password: string) {
  const registration_record = await newRecord(password, async (registration_request) => {
    const answer = await call(service, "POST", "/api/auth/password/start", { token, body: { registration_request } });
    if (answer.status !== 200) throw new Error(`password/start was answered ${answer.status}`);
    return answer.body.registration_response;
  });
  return { registration_record, encrypted_user_key: sealed() };
}

/** Changes a person's password; the answer. */
export async function changePassword(service: Service, person: Person, password: string, more: object = {}) {
  const change = await newPassword(service, person, password);
  const body = { ...(await proofOf(service, person)), ...change, ...more };
  return call(service, "POST", "/api/auth/password", { token: person.token, body });
}

/** A person who has a recovery key, with what opens the account by it. */
export interface Recoverable extends Person {
  /** Base64url. */
  proof: string;
  /** The user key, sealed under the recovery key. */
  recoverySealed: string;
}

/** Registers a person with a recovery key. */
export async function registerRecoverable(service: Service, orgName?: string): Promise<Recoverable> {
  const password = randomBytes(9).toString("base64url");
  const { proof, proofHash } = await readRecoveryKey(newRecoveryKey());
  const recoverySealed = sealed();
  const body = {
    ...(await registration(service, { password })),
    recovery: { proof_hash: proofHash, encrypted_user_key: recoverySealed },
    org_name: orgName,
  };
  const answer = await call(service, "POST", "/api/auth/register/finish", { body });
  if (answer.status !== 201) throw new Error(`register/finish was answered ${answer.status}`);
  const { user, session_id, access_token, refresh_token } = answer.body;
  return {
    email: body.email,
    password,
    userId: user.id,
    sessionId: session_id,
    token: access_token,
    refreshToken: refresh_token,
    proof,
    recoverySealed,
  };
}

/** Starts a recovery: the answer, and the body of its finish where it was begun. */
export async function beginRecovery(
  service: Service,
  { email, proof }: { email: string; proof: string },
  password: string,
  headers: Record<string, string> = {},
): Promise<{ start: Answer; finish: Record<string, unknown> }> {
  const { state, registrationRequest: registration_request } = await startRegistration(password);
  const start = await call(service, "POST", "/api/auth/recovery/start", {
    body: { email, proof, registration_request },
    headers,
  });
  if (start.status !== 200) return { start, finish: {} };
  const registrationResponse = start.body.registration_response;
  const registration_record = await finishRegistration({ state, registrationResponse, password });
  const { recovery_id } = start.body;
  const finish = { recovery_id, registration_record, encrypted_user_key: sealed(), device };
  return { start, finish };
}

/** A person whose second factor is on. */
export interface Protected extends Person {
  recoveryCodes: string[];
  /** The authenticator's code at this moment. */
  codeAt(now: Date): string;
}

/** The code of an authenticator that was given this secret (base32). */
export function codeAt(secret: string, now: Date): string {
  return new TOTP({ secret }).generate({ timestamp: now.getTime() });
}

/** Turns a person's second factor on, at the clock's time. */
export async function protect(service: Service & { clock: { now(): Date } }, given?: Person): Promise<Protected> {
  const person = given ?? (await register(service));
  const { token } = person;
  const started = await call(service, "POST", "/api/auth/totp", { token, body: await proofOf(service, person) });
  if (started.status !== 200) throw new Error(`totp was answered ${started.status}`);
  const { secret } = started.body;
  const body = { otp: codeAt(secret, service.clock.now()) };
  const verified = await call(service, "POST", "/api/auth/totp/verify", { token, body });
  if (verified.status !== 200) throw new Error(`totp/verify was answered ${verified.status}`);
  return { ...person, recoveryCodes: verified.body.recovery_codes, codeAt: (now) => codeAt(secret, now) };
}
