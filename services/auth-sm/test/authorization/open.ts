import { randomBytes, randomUUID } from "node:crypto";
import { startLogin, startRegistration } from "@coffer/crypto/opaque";
import { call } from "../support/call.ts";
import { createMachine, createToken, newKeyPair } from "../support/machines.ts";
import { execute, invite } from "../support/members.ts";
import {
  beginLogin,
  device,
  loginProof,
  newEmail,
  type Person,
  register,
  registration,
  sealed,
} from "../support/people.ts";
import { beginRecovery, registerRecoverable, wrongProof } from "../support/proofs.ts";
import type { TestService } from "../support/service.ts";

// Endpoints that ignore the caller: only the body counts. Each body is valid except for the defect
// that its name says.
// One-time tokens are made for each request.

/** The managers of our organization and of another one. */
export interface Bosses {
  ours: Person;
  foreign: Person;
}

/** What a body of this kind is answered, and how one is made. */
export interface OpenRequest {
  status: number;
  error: string | null;
  body: (service: TestService, bosses: Bosses) => Promise<object | undefined> | object | undefined;
}

type Body = OpenRequest["body"];
const allowed = (status: number, body: Body): OpenRequest => ({ status, error: null, body });
const refused = (status: number, error: string, body: Body): OpenRequest => ({ status, error, body });

const secret = (): string => randomBytes(32).toString("base64url");
const password = "a password";
const registrationOf = async (email: string) => {
  const { registrationRequest } = await startRegistration(password);
  return { email, registration_request: registrationRequest };
};
const loginOf = async (email: string) => ({
  email,
  start_login_request: (await startLogin(password)).startLoginRequest,
});
/** An invitation's token, to this e-mail or another one. */
const invitation = async (
  service: TestService,
  by: Person,
  email = newEmail(),
): Promise<{ id: string; token: string }> => (await invite(service, by, { email, role: "member" })).body;
const invited = async (service: TestService, token: string) => ({
  ...(await registration(service)),
  invite_token: token,
});
const refreshing = (service: TestService, { refreshToken }: Person) =>
  call(service, "POST", "/api/auth/refresh", { body: { refresh_token: refreshToken } });
const logOut = ({ url }: TestService, { token }: Person) => call({ url }, "POST", "/api/auth/logout", { token });
const bootstrapping = (token: string, more: object = {}) => ({ token, public_key: newKeyPair().spki, ...more });
/** A one-time token on which this is so. */
const tokenWhich = async (service: TestService, owner: Person, set: string): Promise<object> => {
  const { id, token } = await createToken(service, owner, []);
  await execute(service, `UPDATE auth_sm.access_tokens SET ${set} WHERE id = $1`, [id]);
  return bootstrapping(token);
};
const tokenWithClient = async (service: TestService, owner: Person, clientId: string): Promise<object> =>
  bootstrapping((await createToken(service, owner, [])).token, { client_id: clientId });
const machineOf = async (service: TestService, owner: Person) => (await createMachine(service, owner, [])).clientId;

/** By endpoint, and by what its body names. */
export const openRequests: Readonly<Record<string, Readonly<Record<string, OpenRequest>>>> = {
  "GET /.well-known/jwks.json": { nothing: allowed(200, () => undefined) },
  "POST /api/auth/register/start": {
    "a new e-mail": allowed(200, () => registrationOf(newEmail())),
    "the e-mail of one of ours": allowed(200, (_service, { ours }) => registrationOf(ours.email)),
    "the e-mail of one of others": allowed(200, (_service, { foreign }) => registrationOf(foreign.email)),
  },
  "POST /api/auth/register/finish": {
    "a new e-mail": allowed(201, (service) => registration(service)),
    "the e-mail of one of ours": refused(409, "conflict", (service, { ours }) =>
      registration(service, { email: ours.email }),
    ),
    "the e-mail of one of others": refused(409, "conflict", (service, { foreign }) =>
      registration(service, { email: foreign.email }),
    ),
    "an invitation to this e-mail": allowed(201, async (service, { ours }) => {
      const body = await registration(service);
      return { ...body, invite_token: (await invitation(service, ours, body.email)).token };
    }),
    "an invitation to another e-mail": refused(403, "access_denied", async (service, { ours }) =>
      invited(service, (await invitation(service, ours)).token),
    ),
    "an invitation of others to another e-mail": refused(403, "access_denied", async (service, { foreign }) =>
      invited(service, (await invitation(service, foreign)).token),
    ),
    "an invitation that was withdrawn": refused(404, "not_found", async (service, { ours }) => {
      const { id, token } = await invitation(service, ours);
      await call(service, "DELETE", `/api/org/invites/${id}`, { token: ours.token });
      return invited(service, token);
    }),
    "an unknown invitation": refused(404, "not_found", (service) => invited(service, `cfi1_${secret()}`)),
  },
  "POST /api/auth/login/start": {
    "an unknown e-mail": allowed(200, () => loginOf(newEmail())),
    "the e-mail of a person": allowed(200, async (service) => loginOf((await register(service)).email)),
  },
  "POST /api/auth/login/finish": {
    "one's own login": allowed(200, async (service) => loginProof(service, await register(service))),
    "the login of another person": refused(401, "invalid_credentials", async (service) => {
      const [own, other] = [await register(service), await register(service)];
      const { start } = await beginLogin(service, other);
      return { ...(await loginProof(service, own)), login_id: start.body.login_id };
    }),
    "a login that is spent": refused(401, "invalid_credentials", async (service) => {
      const body = await loginProof(service, await register(service));
      await call(service, "POST", "/api/auth/login/finish", { body });
      return body;
    }),
    "a recovery": refused(401, "invalid_credentials", async (service) => {
      const person = await registerRecoverable(service);
      const { finish } = await beginRecovery(service, person, password);
      return { ...(await loginProof(service, person)), login_id: finish["recovery_id"] };
    }),
    "an unknown login": refused(401, "invalid_credentials", () => ({
      login_id: randomUUID(),
      finish_login_request: wrongProof,
      device,
    })),
  },
  "POST /api/auth/refresh": {
    "one's own token": allowed(200, async (service) => ({ refresh_token: (await register(service)).refreshToken })),
    "the token of a session that was ended": refused(401, "invalid_token", async (service) => {
      const person = await register(service);
      await logOut(service, person);
      return { refresh_token: person.refreshToken };
    }),
    "a token from before two refreshes": refused(401, "token_reused", async (service) => {
      const person = await register(service);
      const { body } = await refreshing(service, person);
      await refreshing(service, { ...person, refreshToken: body.refresh_token });
      return { refresh_token: person.refreshToken };
    }),
    "an invented token of a session": refused(401, "invalid_token", (_service, { ours }) => {
      const bytes = Buffer.from(ours.refreshToken.slice(5), "base64url");
      return { refresh_token: `cfs1_${bytes.fill(7, 16).toString("base64url")}` };
    }),
    "an unknown token": refused(401, "invalid_token", () => ({ refresh_token: secret() })),
  },
  "POST /api/auth/recovery/start": {
    "one's own proof": allowed(200, async (service) => {
      const { email, proof } = await registerRecoverable(service);
      return { ...(await registrationOf(email)), proof };
    }),
    "the proof of another person": refused(401, "invalid_credentials", async (service) => {
      const [own, other] = [await registerRecoverable(service), await registerRecoverable(service)];
      return { ...(await registrationOf(other.email)), proof: own.proof };
    }),
    "an unknown e-mail": refused(401, "invalid_credentials", async () => ({
      ...(await registrationOf(newEmail())),
      proof: secret(),
    })),
  },
  "POST /api/auth/recovery/finish": {
    "one's own recovery": allowed(200, async (service) => {
      return (await beginRecovery(service, await registerRecoverable(service), password)).finish;
    }),
    "a recovery that is spent": refused(401, "invalid_credentials", async (service) => {
      const { finish: body } = await beginRecovery(service, await registerRecoverable(service), password);
      await call(service, "POST", "/api/auth/recovery/finish", { body });
      return body;
    }),
    "a login": refused(401, "invalid_credentials", async (service) => {
      const person = await registerRecoverable(service);
      const { login_id } = await loginProof(service, person);
      return { ...(await beginRecovery(service, person, password)).finish, recovery_id: login_id };
    }),
    "an unknown recovery": refused(401, "invalid_credentials", () => {
      return { recovery_id: randomUUID(), registration_record: "x", encrypted_user_key: sealed(), device };
    }),
  },
  "POST /api/sm/v1/bootstrap": {
    "one of our tokens": allowed(200, async (service, { ours }) =>
      bootstrapping((await createToken(service, ours, [])).token),
    ),
    "a token of others": allowed(200, async (service, { foreign }) =>
      bootstrapping((await createToken(service, foreign, [])).token),
    ),
    "a token that was used": refused(401, "invalid_token", (service, { ours }) =>
      tokenWhich(service, ours, "used_at = now()"),
    ),
    "a token that was revoked": refused(401, "invalid_token", (service, { ours }) =>
      tokenWhich(service, ours, "revoked_at = now()"),
    ),
    "a token of others that was revoked": refused(401, "invalid_token", (service, { foreign }) =>
      tokenWhich(service, foreign, "revoked_at = now()"),
    ),
    "an unknown token": refused(401, "invalid_token", () => bootstrapping(secret())),
    "an id of one of our machines": refused(400, "invalid_request", async (service, { ours }) =>
      tokenWithClient(service, ours, await machineOf(service, ours)),
    ),
    "an id of a machine of others": refused(400, "invalid_request", async (service, { ours, foreign }) =>
      tokenWithClient(service, ours, await machineOf(service, foreign)),
    ),
    "an id of a machine that was revoked": refused(400, "invalid_request", async (service, { ours }) => {
      const clientId = await machineOf(service, ours);
      await execute(service, "UPDATE auth_sm.clients SET revoked_at = now() WHERE id = $1", [clientId]);
      return tokenWithClient(service, ours, clientId);
    }),
    "an id of no machine": allowed(200, (service, { ours }) => tokenWithClient(service, ours, randomUUID())),
  },
};
