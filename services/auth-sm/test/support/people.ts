import { generateKeyPairSync, randomBytes } from "node:crypto";
import { startLogin, startRegistration } from "@coffer/crypto/opaque";
import { type Answer, call } from "./call.ts";
import { finishLogin, finishRegistration } from "./opaque.ts";

/** A person with an account and a session. */
export interface Person {
  email: string;
  password: string;
  userId: string;
  sessionId: string;
  /** The access token. */
  token: string;
  refreshToken: string;
}

export const device = { id: "device-1", name: "a laptop", type: "cli" };

/** Some base64, as opaque to the server as any ciphertext. */
export function sealed(bytes = 48): string {
  return randomBytes(bytes).toString("base64");
}

export function newEmail(): string {
  return `${randomBytes(6).toString("hex")}@example.com`;
}

/** What `register/finish` takes, after a real `register/start`. */
export async function registration(
  service: { url: string },
  { email = newEmail(), password = "correct horse battery staple" }: { email?: string; password?: string } = {},
) {
  const started = await startRegistration(password);
  const { registrationRequest: registration_request } = started;
  const start = await call(service, "POST", "/api/auth/register/start", { body: { email, registration_request } });
  if (start.status !== 200) throw new Error(`register/start was answered ${start.status}`);
  const registration_record = await finishRegistration({
    state: started.state,
    registrationResponse: start.body.registration_response,
    password,
  });
  return {
    email,
    registration_record,
    public_key: newPublicKey(),
    encrypted_user_key: sealed(),
    encrypted_private_key: sealed(150),
    device,
  };
}

/** Registers a person, with an organization if its name is given. */
export async function register(
  service: { url: string },
  options: { email?: string; password?: string; orgName?: string } = {},
): Promise<Person> {
  const { email = newEmail(), password = "correct horse battery staple", orgName } = options;
  const body = await registration(service, { email, password });
  const answer = await call(service, "POST", "/api/auth/register/finish", { body: { ...body, org_name: orgName } });
  if (answer.status !== 201) throw new Error(`register/finish was answered ${answer.status}`);
  return personOf(email, password, answer);
}

/** Registers a person on a device; returns the person and the device credential. */
export async function newDevice(service: { url: string }): Promise<{ person: Person; credential: string }> {
  const email = newEmail();
  const password = "correct horse battery staple";
  const body = await registration(service, { email, password });
  const answer = await call(service, "POST", "/api/auth/register/finish", { body });
  if (answer.status !== 201) throw new Error(`register/finish was answered ${answer.status}`);
  return { person: personOf(email, password, answer), credential: credentialOf(answer) };
}

/** What the answer to a login gives the device for its next one. */
export function credentialOf({ body }: Answer): string {
  return body.device_credential;
}

function newPublicKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return publicKey.export({ type: "spki", format: "der" }).toString("base64");
}

/** Registers a person with this public key; `more` has further members of the body. */
export async function finishedRegistration(
  service: { url: string },
  { email, publicKey, more = {} }: { email: string; publicKey: string; more?: object },
): Promise<Person> {
  const password = "correct horse battery staple";
  const body = { ...(await registration(service, { email, password })), public_key: publicKey, ...more };
  const answer = await call(service, "POST", "/api/auth/register/finish", { body });
  if (answer.status !== 201) throw new Error(`register/finish was answered ${answer.status} ${answer.body.message}`);
  return personOf(email, password, answer);
}

/** What a login begins with. */
export interface Credentials {
  email: string;
  password: string;
  deviceCredential?: string | undefined;
}

/** Starts a login: the answer, and what the client needs to finish it. */
export async function beginLogin(
  service: { url: string },
  { email, password, deviceCredential: device_credential }: Credentials,
  headers: Record<string, string> = {},
) {
  const started = await startLogin(password);
  const { startLoginRequest: start_login_request } = started;
  const body = { email, start_login_request, ...(device_credential === undefined ? {} : { device_credential }) };
  const start = await call(service, "POST", "/api/auth/login/start", { body, headers });
  return { start, state: started.state };
}

/** The body of `login/finish` for a login that began with the right password. */
export async function loginProof(service: { url: string }, credentials: Credentials) {
  const { start, state } = await beginLogin(service, credentials);
  const loginResponse: string = start.body.login_response;
  const finish_login_request = await finishLogin({ state, loginResponse, password: credentials.password });
  const login_id: string = start.body.login_id;
  return { login_id, finish_login_request, device };
}

/** Logs in; throws when that is refused. */
export async function logIn(
  service: { url: string },
  credentials: { email: string; password: string },
): Promise<Person> {
  const answer = await call(service, "POST", "/api/auth/login/finish", {
    body: await loginProof(service, credentials),
  });
  if (answer.status !== 200) throw new Error(`login/finish was answered ${answer.status}`);
  return personOf(credentials.email, credentials.password, answer);
}

function personOf(email: string, password: string, { body }: Answer): Person {
  return {
    email,
    password,
    userId: body.user.id,
    sessionId: body.session_id,
    token: body.access_token,
    refreshToken: body.refresh_token,
  };
}
