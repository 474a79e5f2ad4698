import { client, ready } from "@serenity-kit/opaque";
import { CryptoError } from "./crypto-error.ts";

/**
 * Argon2id, the second choice of RFC 9106 (3 passes, 64 MiB, 4 lanes). It is part of the protocol:
 * another value gives other keys.
 */
export const keyStretching = "memory-constrained";

/** The client's half of a pending registration. Contains a blinding secret: never send it. */
export interface RegistrationStart {
  /** `registration_request`: base64url, for the server. */
  registrationRequest: string;
  state: string;
}

export interface Registration {
  /** `registration_record`: base64url, for the server. */
  registrationRecord: string;
  /** base64url of 64 bytes, for `userKeySealKey`. */
  exportKey: string;
}

/** The client's half of a pending login. Never send `state`. */
export interface LoginStart {
  /** `start_login_request`: base64url, for the server. */
  startLoginRequest: string;
  state: string;
}

export interface Login {
  /** `finish_login_request`: base64url, for the server. */
  finishLoginRequest: string;
  /**
   * base64url of 64 bytes, for `userKeySealKey`. Every login with this password gives the same
   * value.
   */
  exportKey: string;
  /** base64url of 64 bytes that the server has too. */
  sessionKey: string;
}

/** Starts a registration or a change of the password. @throws CryptoError `invalid_input` */
export async function startRegistration(password: string): Promise<RegistrationStart> {
  requireText(password);
  await ready;
  const { registrationRequest, clientRegistrationState } = client.startRegistration({ password });
  return { registrationRequest, state: clientRegistrationState };
}

/**
 * Finishes a registration with the server's `registration_response`. Stretching the password takes
 * about a second.
 * @throws CryptoError `invalid_server_answer`, `weak_key_stretching`
 */
export async function finishRegistration(answer: {
  state: string;
  registrationResponse: string;
  password: string;
}): Promise<Registration> {
  refuseSettings(answer);
  await ready;
  const { registrationRecord, exportKey } = readable(() =>
    client.finishRegistration({
      clientRegistrationState: answer.state,
      registrationResponse: answer.registrationResponse,
      password: answer.password,
      keyStretching,
    }),
  );
  return { registrationRecord, exportKey };
}

/** Starts a login or a new proof of the password. @throws CryptoError `invalid_input` */
export async function startLogin(password: string): Promise<LoginStart> {
  requireText(password);
  await ready;
  const { startLoginRequest, clientLoginState } = client.startLogin({ password });
  return { startLoginRequest, state: clientLoginState };
}

/**
 * Finishes a login with the server's `login_response`. Stretching the password takes about a
 * second.
 * @throws CryptoError `login_failed` (wrong password, unknown account and a false server are
 * indistinguishable), `invalid_server_answer`, `weak_key_stretching`
 */
export async function finishLogin(answer: { state: string; loginResponse: string; password: string }): Promise<Login> {
  refuseSettings(answer);
  await ready;
  const login = readable(() =>
    client.finishLogin({
      clientLoginState: answer.state,
      loginResponse: answer.loginResponse,
      password: answer.password,
      keyStretching,
    }),
  );
  if (login === undefined) throw new CryptoError("login_failed", "wrong e-mail or password");
  return { finishLoginRequest: login.finishLoginRequest, exportKey: login.exportKey, sessionKey: login.sessionKey };
}

/** The library would replace half of a surrogate pair, so that different passwords became equal. */
function requireText(password: string): void {
  if (!password.isWellFormed()) throw new CryptoError("invalid_input", "the password holds half of a surrogate pair");
}

/**
 * Fields of a server's response that were spread into the arguments must not choose the key
 * stretching.
 */
function refuseSettings(answer: object): void {
  if ("keyStretching" in answer || "identifiers" in answer) {
    throw new CryptoError("weak_key_stretching", "how the password is stretched is built in and cannot be chosen");
  }
}

/** The library throws plain errors for unreadable messages, and some quote their input. */
function readable<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw new CryptoError("invalid_server_answer", "the server's answer is not a message of this protocol");
  }
}
