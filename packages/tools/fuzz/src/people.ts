import { randomBytes } from "node:crypto";
import { finishLogin, finishRegistration, startLogin, startRegistration } from "@coffer/crypto/opaque";
import { login, register } from "@coffer/sdk/account";
import { request, demand } from "./api.ts";

/** A person with an account and a session. */
export interface Person {
  email: string;
  token: string;
  refreshToken: string;
  userId: string;
  sessionId: string;
  recoveryKey: string;
}

const password = "correct horse battery staple";
const device = { id: "fuzz", name: "npm run fuzz", type: "cli" };

/** An unused e-mail. */
export function newEmail(): string {
  return `fuzz-${randomBytes(9).toString("hex")}@example.com`;
}

/** Registers a person: with an own organization, or with an invitation. */
export async function newPerson(
  url: string,
  { organization, inviteToken, email = newEmail() }: { organization?: string; inviteToken?: string; email?: string },
): Promise<Person> {
  const { session, recoveryKey } = await register({ url, email, password, device, inviteToken });
  // Without an entry, so without a history: requests then need no signature.
  if (organization !== undefined)
    await request(url, "POST", "/api/orgs", { token: session.access_token, body: { name: organization } });
  return {
    email,
    token: session.access_token,
    refreshToken: session.refresh_token,
    userId: session.user.id,
    sessionId: session.session_id,
    recoveryKey,
  };
}

/** The id of another session of a person. Throws CofferError, also at once if logins are delayed. */
export async function openSession(url: string, { email }: Person): Promise<string> {
  return (await login({ url, email, password, device }, { attempts: 1 })).session_id;
}

/** Logs a person in again after the session has ended. */
export async function ensureLoggedIn(url: string, person: Person): Promise<void> {
  const { status } = await request(url, "GET", "/api/account", { token: person.token });
  if (status === 200) return;
  const session = await login({ url, email: person.email, password, device }, { attempts: 1 });
  person.token = session.access_token;
  person.refreshToken = session.refresh_token;
  person.sessionId = session.session_id;
}

/** The start of a login. */
export async function newLoginRequest(): Promise<string> {
  return (await startLogin(password)).startLoginRequest;
}

/** A login before its finish; undefined while logins of this person are delayed. */
export async function newProof(url: string, { email }: Person): Promise<Record<string, unknown> | undefined> {
  const { state, startLoginRequest } = await startLogin(password);
  const body = { email, start_login_request: startLoginRequest };
  const started = await request(url, "POST", "/api/auth/login/start", { body });
  if (started.status !== 200) return undefined;
  const loginResponse = String(started.body["login_response"]);
  const { finishLoginRequest } = await finishLogin({ state, loginResponse, password });
  return { login_id: started.body["login_id"], finish_login_request: finishLoginRequest };
}

/**
 * The record of a new password, after its start call.
 * @returns the record, and the other fields of the call's response
 */
export async function newRecord(
  url: string,
  path: string,
  { token, body = {} }: { token?: string; body?: object },
): Promise<{ record: string; started: Record<string, unknown> }> {
  const { state, registrationRequest } = await startRegistration(password);
  const started = await demand(url, "POST", path, {
    ...(token === undefined ? {} : { token }),
    body: { ...body, registration_request: registrationRequest },
  });
  const registrationResponse = String(started["registration_response"]);
  const { registrationRecord } = await finishRegistration({ state, registrationResponse, password });
  return { record: registrationRecord, started };
}
