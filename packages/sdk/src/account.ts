import {
  box,
  contexts,
  CryptoError,
  encodeBase64,
  newKey,
  newKeyPair,
  newRecoveryKey,
  readRecoveryKey,
  unboxBound,
  userKeySealKey,
} from "@coffer/crypto";
import { finishLogin, finishRegistration, startLogin, startRegistration } from "@coffer/crypto/opaque";
import { CofferError } from "./errors.ts";
import { loginAnswer } from "./login-answer.ts";
import { checkNewPassword } from "./new-password.ts";
import { sessionOf } from "./person-session.ts";
import type { PersonSession } from "./person-session.ts";
import { createTransport } from "./transport.ts";
import type { Transport, TransportOptions } from "./transport.ts";

export interface Device {
  id: string;
  name: string;
  type: string;
}

export interface RegisterRequest {
  url: string;
  email: string;
  password: string;
  device: Device;
  name?: string | undefined;
  /** Makes an organization of this name, with the new person as its owner. */
  organization?: string | undefined;
  inviteToken?: string | undefined;
}

export interface LoginRequest {
  url: string;
  email: string;
  password: string;
  device: Device;
}

export interface AccountOptions extends Omit<TransportOptions, "url"> {
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/**
 * Makes an account with a new user key, key pair and recovery key, and logs in. The password stays here: the service
 * gets an OPAQUE record and sealed keys. The recovery key is for the person alone and cannot be had again.
 * Throws CofferError `invalid_request` for a password that is too short, `conflict` when the e-mail has an account,
 * `registration_closed` where nobody may register.
 */
export async function register(
  request: RegisterRequest,
  options: AccountOptions = {},
): Promise<{ session: PersonSession; recoveryKey: string }> {
  const transport = createTransport({ ...options, url: request.url });
  const { email, password } = request;
  checkNewPassword(password);
  const { state, registrationRequest } = await startRegistration(password);
  const started = await post(transport, "/api/auth/register/start", {
    email,
    registration_request: registrationRequest,
  });
  const registrationResponse = textOf(started, "registration_response");
  const { registrationRecord, exportKey } = await understood(
    finishRegistration({ state, registrationResponse, password }),
  );
  const userKey = newKey();
  const { publicKey, privateKey } = await newKeyPair();
  const recoveryKey = newRecoveryKey();
  const recovery = await readRecoveryKey(recoveryKey);
  const view = await post(transport, "/api/auth/register/finish", {
    email,
    name: request.name,
    registration_record: registrationRecord,
    public_key: publicKey,
    encrypted_user_key: await box(await userKeySealKey(exportKey), userKey, contexts.userKey()),
    encrypted_private_key: await box(userKey, privateKey, contexts.privateKey()),
    recovery: {
      proof_hash: recovery.proofHash,
      encrypted_user_key: await box(recovery.wrapKey, userKey, contexts.userKey()),
    },
    org_name: request.organization,
    invite_token: request.inviteToken,
    device: request.device,
  });
  const now = (options.now ?? Date.now)();
  return { session: sessionOf(transport.url, loginAnswer(view), encodeBase64(userKey), now), recoveryKey };
}

/**
 * Logs in and unlocks the user key. A wrong password shows here, before anything is sent that could confirm it.
 * Throws CofferError `invalid_credentials` for a wrong password as for an unknown e-mail.
 */
export async function login(request: LoginRequest, options: AccountOptions = {}): Promise<PersonSession> {
  const transport = createTransport({ ...options, url: request.url });
  const { email, password, device } = request;
  const { state, startLoginRequest } = await startLogin(password);
  const started = await post(transport, "/api/auth/login/start", { email, start_login_request: startLoginRequest });
  const loginResponse = textOf(started, "login_response");
  const { finishLoginRequest, exportKey } = await understood(finishLogin({ state, loginResponse, password }));
  const answer = await post(transport, "/api/auth/login/finish", {
    login_id: textOf(started, "login_id"),
    finish_login_request: finishLoginRequest,
    device,
  });
  const view = loginAnswer(answer);
  const sealKey = await userKeySealKey(exportKey);
  const userKey = await understood(unboxBound(sealKey, view.encrypted_user_key, contexts.userKey()));
  return sessionOf(transport.url, view, encodeBase64(userKey), (options.now ?? Date.now)());
}

async function post(transport: Transport, path: string, body: unknown): Promise<unknown> {
  return (await transport.send({ method: "POST", path, body })).body;
}

function textOf(answer: unknown, name: string): string {
  const value = (answer as Record<string, unknown>)[name];
  if (typeof value === "string") return value;
  throw new CofferError("bad_answer", `the service's answer has no ${name}`);
}

/** What cannot be opened or read of an answer, in this package's words. */
async function understood<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    if (cause.code === "login_failed") throw new CofferError("invalid_credentials", cause.message, { cause });
    const code = cause.code === "decryption_failed" ? "not_decrypted" : "bad_answer";
    throw new CofferError(code, cause.message, { cause });
  }
}
