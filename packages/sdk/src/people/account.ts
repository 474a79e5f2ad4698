import {
  box,
  contexts,
  decodeBase64,
  encodeBase64,
  inviteTokenPrefix,
  newId,
  newKey,
  newKeyPair,
  readInviteToken,
  readRecoveryKey,
  unboxBound,
} from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { canonicalEmail } from "../histories/invite-member.ts";
import { firstOrganizationEntry } from "../histories/organization.ts";
import { createTransport, type TransportOptions } from "../http/transport.ts";
import { sealKeyring } from "../trust/keyring.ts";
import { emptyTrust, type TrustRecord, withTrusted } from "../trust/trust-storage.ts";
import type { TravelModeView } from "../views.ts";
import { loginAnswer } from "./login-answer.ts";
import { checkNewPassword } from "./new-password.ts";
import {
  type AskOtp,
  newRecovery,
  openUserKey,
  post,
  provePassword,
  registerPassword,
  textOf,
  understood,
  withOtp,
} from "./opaque-exchange.ts";
import { memoryKeeper, personSender, type PersonSession, type SessionKeeper, sessionOf } from "./person-session.ts";
import { travelModeOf } from "./travel-mode.ts";

export type { AskOtp } from "./opaque-exchange.ts";

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
  /** Creates an organization with this name, with the new person as its owner. */
  organization?: string | undefined;
  /**
   * The text of an invitation. It permits the registration; `invites.accept` joins its
   * organization.
   */
  inviteToken?: string | undefined;
}

export interface LoginRequest {
  url: string;
  email: string;
  password: string;
  device: Device;
  /**
   * The `device_credential` of this device's last session of this account, stored beyond its
   * logout. With it, logins of others do not delay this one. Never use it for another account: the
   * server would learn that both are on one device.
   */
  deviceCredential?: string | undefined;
  /** Requests a code if the account has a second factor. */
  otp?: AskOtp | undefined;
}

export interface AccountOptions extends Omit<TransportOptions, "url"> {
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/**
 * Registers an account with a new user key, key pair and recovery key, and logs in. The password
 * stays here: the service gets an OPAQUE record and sealed keys. The client makes the ids and the
 * history of the new organization. Throws CofferError `invalid_request` for a short password,
 * `conflict` when the e-mail has an account, `registration_closed` where registration is closed.
 */
export async function register(request: RegisterRequest, options: AccountOptions = {}): Promise<Registered> {
  const { email, password } = request;
  checkNewPassword(password);
  const { url, send } = createTransport({ ...options, url: request.url });
  const userKey = newKey();
  const { started, ...registered } = await registerPassword(
    password,
    (request) => post(send, "/api/auth/register/start", { email, registration_request: request }),
    () => Promise.resolve(userKey),
  );
  const { publicKey, privateKey } = await newKeyPair();
  const { recoveryKey, recovery } = await newRecovery(userKey);
  const userId = newId();
  const { trust, organization } = await firstTrust(request, userId, { publicKey, privateKey });
  const session = { user_key: encodeBase64(userKey), user: { id: userId } };
  const view = await post(send, "/api/auth/register/finish", {
    user_id: userId,
    ...organization,
    keyring: await sealKeyring(session, trust.keyring, trust),
    email,
    name: request.name,
    ...registered,
    public_key: publicKey,
    encrypted_private_key: await box(userKey, privateKey, contexts.privateKey()),
    recovery,
    org_name: request.organization,
    invite_token: request.inviteToken === undefined ? undefined : await sentToken(request.inviteToken),
    device: request.device,
  });
  const answer = loginAnswer(view);
  if (answer.user.id !== userId) throw new CofferError("bad_answer", "the service made the account under another id");
  return { session: await sessionOf(url, answer, session.user_key, nowOf(options)), recoveryKey, trust };
}

export interface Registered {
  session: PersonSession;
  /** For the person alone. It is returned only once. */
  recoveryKey: string;
  /** The key pins that this device must store: the new organization, if one was made. */
  trust: TrustRecord;
}

/** The key pins of a new account, and the part of the request that creates its organization. */
async function firstTrust(
  { organization, email }: RegisterRequest,
  userId: string,
  { publicKey, privateKey }: { publicKey: string; privateKey: Uint8Array },
): Promise<{ trust: TrustRecord; organization: { org_id?: string; entry?: string } }> {
  const trust: TrustRecord = { ...emptyTrust(), keyring: 1 };
  if (organization === undefined) return { trust, organization: {} };
  const id = newId();
  const self = { who: `user:${userId}` as const, publicKey, privateKey: () => Promise.resolve(privateKey) };
  const { text, state } = await firstOrganizationEntry(self, id, organization, canonicalEmail(email));
  const made = withTrusted(trust, `org:${id}`, { pin: state.head, state, accepted: true });
  return { trust: { ...made, organization: id }, organization: { org_id: id, entry: text } };
}

/**
 * The only part of an invitation that is ever sent. An invitation that the service made is sent
 * unchanged.
 */
async function sentToken(text: string): Promise<string> {
  return text.startsWith(inviteTokenPrefix) ? (await understood(readInviteToken(text))).token : text;
}

/**
 * Logs in and unlocks the user key. Throws CofferError `invalid_credentials` for a wrong password
 * or an unknown e-mail, `otp_required` when the second factor is missing, or wrong five times.
 */
export async function login(request: LoginRequest, options: AccountOptions = {}): Promise<PersonSession> {
  const { url, send } = createTransport({ ...options, url: request.url });
  const { exportKey, ...proof } = await provePassword(send, request);
  const finish = (otp: string | undefined): Promise<unknown> =>
    post(send, "/api/auth/login/finish", { ...proof, otp, device: request.device });
  const view = loginAnswer(await withOtp(finish, "otp_required", request.otp));
  const userKey = await openUserKey(exportKey, view.encrypted_user_key);
  return sessionOf(url, view, encodeBase64(userKey), nowOf(options));
}

export interface RecoverRequest extends Omit<LoginRequest, "deviceCredential" | "password"> {
  /** The printed text: `cfr1_…`. */
  recoveryKey: string;
  newPassword: string;
}

/**
 * Sets a new password with the recovery key, and logs in. Every other session ends, and the
 * returned recovery key replaces the old one. Throws CofferError `invalid_request` for a malformed
 * recovery key or a short password, `invalid_credentials` for the key of another account, and
 * `otp_required` like `login`.
 */
export async function recover(
  request: RecoverRequest,
  options: AccountOptions = {},
): Promise<{ session: PersonSession; recoveryKey: string }> {
  checkNewPassword(request.newPassword);
  const { proof, wrapKey } = await understood(readRecoveryKey(request.recoveryKey.trim()));
  const { url, send } = createTransport({ ...options, url: request.url });
  const { email } = request;
  let userKey = new Uint8Array();
  const { started, ...registered } = await registerPassword(
    request.newPassword,
    (request) => post(send, "/api/auth/recovery/start", { email, proof, registration_request: request }),
    async (answer) => {
      const sealed = textOf(answer, "encrypted_user_key");
      userKey = await understood(unboxBound(wrapKey, sealed, contexts.userKey()));
      return userKey;
    },
  );
  const { recoveryKey, recovery } = await newRecovery(userKey);
  const body = { recovery_id: textOf(started, "recovery_id"), ...registered, recovery, device: request.device };
  const finish = (otp: string | undefined): Promise<unknown> =>
    post(send, "/api/auth/recovery/finish", { ...body, otp });
  const view = loginAnswer(await withOtp(finish, "otp_required", request.otp));
  return { session: await sessionOf(url, view, encodeBase64(userKey), nowOf(options)), recoveryKey };
}

export interface FreshProof {
  login_id: string;
  finish_login_request: string;
  otp: string | undefined;
}

/** Changes of one's own account, each with a new proof of the password. Throws CofferError. */
export interface AccountSecurity {
  /**
   * Changes the password; every other session ends. With `newRecoveryKey` the returned recovery key
   * replaces the old one. Returns the continued session, which the keeper has stored.
   */
  changePassword(change: {
    password: string;
    newPassword: string;
    newRecoveryKey?: boolean | undefined;
    otp?: AskOtp | undefined;
  }): Promise<{ session: PersonSession; recoveryKey: string | undefined }>;
  /**
   * Starts to switch the second factor on: returns the secret for the authenticator, as text and as
   * `otpauth://` address.
   */
  startTotp(proof: { password: string; otp?: AskOtp | undefined }): Promise<{ secret: string; otpauth_url: string }>;
  /**
   * Switches it on with a first code. Returns the recovery codes, each valid once. Every other
   * session ends.
   */
  confirmTotp(otp: string): Promise<string[]>;
  /** Switches it off; every other session ends. */
  stopTotp(proof: { password: string; otp?: AskOtp | undefined }): Promise<void>;
  /** Proves the password for a request of another module: `request` receives the fields to add. */
  prove<T>(
    proof: { password: string; otp?: AskOtp | undefined },
    request: (fields: FreshProof) => Promise<T>,
  ): Promise<T>;
  /** Ends travel mode and shows the hidden vaults again. */
  stopTravel(proof: { password: string; otp?: AskOtp | undefined }): Promise<TravelModeView>;
}

export function accountSecurity(
  session: PersonSession | SessionKeeper,
  url: string,
  options: AccountOptions = {},
): AccountSecurity {
  const keeper = "renew" in session ? session : memoryKeeper(session);
  const transport = createTransport({ ...options, url });
  const send = personSender(keeper, transport, undefined, options.now ?? Date.now);

  const proven = async <T>(
    { password, otp }: { password: string; otp?: AskOtp | undefined },
    request: (proof: FreshProof) => Promise<T>,
  ): Promise<T> => {
    const { user, device_credential: deviceCredential } = await keeper.current();
    const { exportKey, ...proof } = await provePassword(transport.send, {
      email: user.email,
      password,
      deviceCredential,
    });
    return withOtp((code) => request({ ...proof, otp: code }), "reauth_required", otp);
  };

  return {
    async changePassword(change) {
      checkNewPassword(change.newPassword);
      const current = await keeper.current();
      const userKey = decodeBase64(current.user_key);
      const { started, ...registered } = await registerPassword(
        change.newPassword,
        (request) => post(send, "/api/auth/password/start", { registration_request: request }),
        () => Promise.resolve(userKey),
      );
      const renewed = change.newRecoveryKey === true ? await newRecovery(userKey) : undefined;
      const answer = await proven(change, (proof) =>
        post(send, "/api/auth/password", { ...proof, ...registered, recovery: renewed?.recovery }),
      );
      const changed = {
        ...(await sessionOf(transport.url, loginAnswer(answer), current.user_key, nowOf(options))),
        device_credential: current.device_credential,
      };
      // A renewal by another process is older than the change, also when it is stored only now.
      for (;;) {
        const { access_token: replaced } = await keeper.current();
        const kept = await keeper.renew(replaced, () => Promise.resolve(changed));
        if (kept.access_token === changed.access_token) return { session: kept, recoveryKey: renewed?.recoveryKey };
      }
    },
    async startTotp(proof) {
      const answer = await proven(proof, (fields) => post(send, "/api/auth/totp", fields));
      return { secret: textOf(answer, "secret"), otpauth_url: textOf(answer, "otpauth_url") };
    },
    async confirmTotp(otp) {
      const { recovery_codes: codes } = (await post(send, "/api/auth/totp/verify", { otp })) as {
        recovery_codes?: unknown;
      };
      return Array.isArray(codes) ? codes.map(String) : [];
    },
    async stopTotp(proof) {
      await proven(proof, (body) => send({ method: "DELETE", path: "/api/auth/totp", body }));
    },
    prove: proven,
    stopTravel: (proof) =>
      proven(proof, async (fields) => {
        const body = { enabled: false, ...fields };
        return travelModeOf(await send({ method: "PUT", path: "/api/account/travel-mode", body }), false);
      }),
  };
}

function nowOf({ now = Date.now }: AccountOptions): number {
  return now();
}
