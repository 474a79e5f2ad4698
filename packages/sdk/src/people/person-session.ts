import { CofferError } from "../errors.ts";
import type { Send, Transport } from "../http/transport.ts";
import type { LoginView, TokensView } from "../views.ts";
import { tokensAnswer } from "./login-answer.ts";
import { personPublicKey } from "./own-key.ts";

/** A person's session with the unlocked user key. Anyone who has it can act as the person. */
export interface PersonSession {
  url: string;
  user: { id: string; email: string; name: string | null };
  session_id: string;
  access_token: string;
  /** Unix seconds, by this machine's clock. */
  access_expires_at: number;
  /** The token's original lifetime in seconds. */
  access_expires_in?: number | undefined;
  refresh_token: string;
  refresh_expires_at: number;
  /** base64 of the 32 bytes. */
  user_key: string;
  public_key: string;
  encrypted_private_key: string;
  /** For this device's next login of the account (`LoginRequest.deviceCredential`). */
  device_credential?: string | undefined;
}

/**
 * The storage of a session, which also serializes its refresh. Both methods throw CofferError
 * `invalid_token` when there is no session.
 */
export interface SessionKeeper {
  current(): Promise<PersonSession>;
  /**
   * Replaces the session whose access token is `staleToken`: calls `refresh` with it, stores and
   * returns the result. If another process has replaced it meanwhile, returns that session without
   * calling `refresh`.
   */
  renew(staleToken: string, refresh: (session: PersonSession) => Promise<PersonSession>): Promise<PersonSession>;
}

/** Stores a session in memory. `changed` is called with each new one. */
export function memoryKeeper(session: PersonSession, changed?: (session: PersonSession) => void): SessionKeeper {
  let current = session;
  let renewal: Promise<PersonSession> | undefined;
  return {
    current: () => Promise.resolve(current),
    renew(staleToken, refresh) {
      if (current.access_token !== staleToken) return Promise.resolve(current);
      renewal ??= refresh(current)
        .then((renewed) => {
          current = renewed;
          changed?.(renewed);
          return renewed;
        })
        .finally(() => (renewal = undefined));
      return renewal;
    },
  };
}

/**
 * The session of a login's response, with the user key that the password opened. `now` in Unix
 * milliseconds. Throws CofferError `bad_answer` when the public key in the response does not belong
 * to the private key.
 */
export async function sessionOf(url: string, view: LoginView, userKey: string, now: number): Promise<PersonSession> {
  const { encrypted_private_key } = view;
  if (view.public_key !== (await personPublicKey({ user_key: userKey, encrypted_private_key })))
    throw new CofferError("bad_answer", "the service shows another public key for you than that of your private key");
  return {
    url,
    user: { id: view.user.id, email: view.user.email, name: view.user.name },
    session_id: view.session_id,
    ...tokensOf(view, now),
    user_key: userKey,
    public_key: view.public_key,
    encrypted_private_key,
    device_credential: view.device_credential,
  };
}

const longestMarginSeconds = 30;

/**
 * An access token is renewed this long before it expires. A short-lived token must be usable for
 * some time too.
 */
export function renewBeforeSeconds({ access_expires_in: life = Infinity }: PersonSession): number {
  return Math.min(longestMarginSeconds, life / 3);
}

/** A person's session with a valid access token. */
export interface FreshSessions {
  /** The session, renewed first when its access token is about to expire. */
  current(): Promise<PersonSession>;
  /** The session with another access token, after the service refused this one. */
  renew(stale: PersonSession): Promise<PersonSession>;
}

/**
 * Renews a session when needed. Concurrent callers share one renewal. `now` in Unix milliseconds.
 */
export function freshSessions(keeper: SessionKeeper, transport: Transport, now: () => number): FreshSessions {
  const renew = (stale: PersonSession): Promise<PersonSession> =>
    keeper.renew(stale.access_token, (session) => refreshed(session, transport, now));
  return {
    renew,
    async current() {
      const session = await keeper.current();
      return session.access_expires_at - renewBeforeSeconds(session) <= now() / 1000 ? renew(session) : session;
    },
  };
}

/**
 * Sends requests as a person. Renews the access token shortly before it expires, and once when the
 * service refuses it. `organization` is the chosen one.
 */
export function personSender(
  keeper: SessionKeeper,
  transport: Transport,
  organization: string | undefined,
  now: () => number,
): Send {
  const sessions = freshSessions(keeper, transport, now);

  return async (request) => {
    // A request about a fixed organization sets the header itself.
    const headers = { ...(organization === undefined ? {} : { "x-coffer-org": organization }), ...request.headers };
    const session = await sessions.current();
    try {
      return await transport.send({ ...request, headers, bearer: session.access_token });
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "invalid_token") throw error;
      const renewed = await sessions.renew(session);
      return transport.send({ ...request, headers, bearer: renewed.access_token });
    }
  };
}

/** Four attempts end within the 60 s in which the service repeats its response. */
const refreshMilliseconds = 10_000;

async function refreshed(session: PersonSession, transport: Transport, now: () => number): Promise<PersonSession> {
  // For 60 s the server answers the previous token with the same successor, so a request whose
  // response was lost can be repeated.
  const answer = await transport.send({
    method: "POST",
    path: "/api/auth/refresh",
    body: { refresh_token: session.refresh_token },
    repeatable: true,
    timeoutMilliseconds: refreshMilliseconds,
  });
  return { ...session, ...tokensOf(tokensAnswer(answer.body), now()) };
}

function tokensOf(
  view: TokensView,
  now: number,
): Pick<
  PersonSession,
  "access_token" | "access_expires_at" | "access_expires_in" | "refresh_token" | "refresh_expires_at"
> {
  const seconds = Math.floor(now / 1000);
  return {
    access_token: view.access_token,
    access_expires_at: seconds + view.expires_in,
    access_expires_in: view.expires_in,
    refresh_token: view.refresh_token,
    refresh_expires_at: seconds + view.refresh_expires_in,
  };
}
