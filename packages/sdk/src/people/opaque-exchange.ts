import {
  box,
  contexts,
  CryptoError,
  newRecoveryKey,
  readRecoveryKey,
  unboxBound,
  userKeySealKey,
} from "@coffer/crypto";
import { finishLogin, finishRegistration, startLogin, startRegistration } from "@coffer/crypto/opaque";
import { CofferError } from "../errors.ts";
import type { Send } from "../http/transport.ts";

export async function post(send: Send, path: string, body: unknown): Promise<unknown> {
  return (await send({ method: "POST", path, body })).body;
}

/** A text field of a response. Throws CofferError `bad_answer` when it is missing. */
export function textOf(answer: unknown, name: string): string {
  const value = (answer as Record<string, unknown>)[name];
  if (typeof value === "string") return value;
  throw new CofferError("bad_answer", `the service's answer has no ${name}`);
}

/** Converts errors of `@coffer/crypto` to CofferError. */
export async function understood<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (!(cause instanceof CryptoError)) throw cause;
    if (cause.code === "login_failed") throw new CofferError("invalid_credentials", cause.message, { cause });
    if (cause.code === "invalid_recovery_key" || cause.code === "invalid_invite_token")
      throw new CofferError("invalid_request", cause.message, { cause });
    const code = cause.code === "decryption_failed" ? "not_decrypted" : "bad_answer";
    throw new CofferError(code, cause.message, { cause });
  }
}

/** The proof of a password for the service, and the key that opens the user key. */
export interface Proof {
  login_id: string;
  finish_login_request: string;
  /** base64url, of OPAQUE. */
  exportKey: string;
}

/**
 * Starts a login and computes its proof, with this device's credential for the account if there is
 * one. A wrong password shows here, before anything is sent that could confirm it. Throws
 * CofferError `invalid_credentials` for a wrong password or an unknown e-mail.
 */
export async function provePassword(
  send: Send,
  { email, password, deviceCredential }: { email: string; password: string; deviceCredential?: string | undefined },
): Promise<Proof> {
  const { state, startLoginRequest } = await startLogin(password);
  const started = await post(send, "/api/auth/login/start", {
    email,
    start_login_request: startLoginRequest,
    device_credential: deviceCredential,
  });
  const loginResponse = textOf(started, "login_response");
  const { finishLoginRequest, exportKey } = await understood(finishLogin({ state, loginResponse, password }));
  return { login_id: textOf(started, "login_id"), finish_login_request: finishLoginRequest, exportKey };
}

/** Opens the user key with a password's export key. Throws CofferError `not_decrypted`. */
export async function openUserKey(exportKey: string, sealed: string): Promise<Uint8Array> {
  return understood(unboxBound(await userKeySealKey(exportKey), sealed, contexts.userKey()));
}

/** A registered password: what the service stores of it, and the user key sealed under it. */
export interface NewPassword {
  registration_record: string;
  encrypted_user_key: string;
}

/** Registers a password in two steps. `start` sends OPAQUE's request and returns the response. */
export async function registerPassword<Started>(
  password: string,
  start: (registrationRequest: string) => Promise<Started>,
  userKeyOf: (started: Started) => Promise<Uint8Array>,
): Promise<NewPassword & { started: Started }> {
  const { state, registrationRequest } = await startRegistration(password);
  const started = await start(registrationRequest);
  const registrationResponse = textOf(started, "registration_response");
  const { registrationRecord, exportKey } = await understood(
    finishRegistration({ state, registrationResponse, password }),
  );
  const userKey = await userKeyOf(started);
  return {
    started,
    registration_record: registrationRecord,
    encrypted_user_key: await box(await userKeySealKey(exportKey), userKey, contexts.userKey()),
  };
}

/** A new recovery key for a user key: the text for the person, and what the service stores. */
export async function newRecovery(
  userKey: Uint8Array,
): Promise<{ recoveryKey: string; recovery: { proof_hash: string; encrypted_user_key: string } }> {
  const recoveryKey = newRecoveryKey();
  const { proofHash, wrapKey } = await readRecoveryKey(recoveryKey);
  return {
    recoveryKey,
    recovery: { proof_hash: proofHash, encrypted_user_key: await box(wrapKey, userKey, contexts.userKey()) },
  };
}

/**
 * Requests a code of the second factor; `again` after a wrong one. `refusal` is the service's
 * error, to throw when there is no code. The caller gets what this throws.
 */
export type AskOtp = (again: boolean, refusal: CofferError) => Promise<string>;

const mostCodes = 5;

/**
 * Sends a request that may need a code of the second factor: first without one, then with the codes
 * of `ask`, as often as the service allows. `needs` is the service's error for a missing or wrong
 * code.
 */
export async function withOtp<T>(
  send: (otp: string | undefined) => Promise<T>,
  needs: "otp_required" | "reauth_required",
  ask: AskOtp | undefined,
): Promise<T> {
  let otp: string | undefined;
  for (let codes = 0; ; codes += 1) {
    try {
      return await send(otp);
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== needs) throw error;
      if (ask === undefined || codes >= mostCodes - 1) throw error;
      otp = await ask(codes > 0, error);
    }
  }
}
