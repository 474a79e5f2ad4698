import { randomBytes } from "node:crypto";
import { decodeBase64 } from "@coffer/crypto";
import { memoryKeeper, personClient, type PersonSession } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import type { Connection } from "./connection.ts";

/** A person who seals a folder's key for themselves. */
export interface OwnerKey {
  id: string;
  userKey: Uint8Array<ArrayBuffer>;
}

/** A person who can be the caller of a step. */
export interface Person {
  /** An access token that is valid for at least 25 seconds. */
  accessToken(): Promise<string>;
}

/** A session of a person of one case, by its names in steps. */
export interface Session extends Person {
  session_id: string;
  access_token: string;
  refresh_token: string;
}

/** A person of these cases in an organization. */
export interface Owner extends OwnerKey, Person {
  orgId: string;
  /** The session of the registration. It is not renewed. */
  readonly session: Session;
  /** Logs in again, on another device. */
  login(): Promise<Session>;
  /** Sends a request as that person and returns the response body. Throws an Error with the response. */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** The client below renews a token that has less than 30 seconds left. */
const spareSeconds = 25;

/** The person's organization: a new one, or by the invitation to this e-mail. */
export type Joining = { organization: string } | { inviteToken: string; email: string };

/** An unused e-mail. */
export function newEmail(): string {
  return `cases-${randomBytes(9).toString("hex")}@example.com`;
}

/** Registers a person. Needs an installation with open registration. */
export async function createPerson(connection: Connection, joining: Joining): Promise<Owner> {
  const address = connection.newAddress();
  const patient: typeof fetch = async (input, init) => {
    const { method = "GET", headers, body } = init ?? {};
    const answer = await connection.sendPatiently({
      method,
      path: (typeof input === "string" ? input : "").slice(connection.url.length),
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === "string" ? { body } : {}),
      address,
    });
    const bare = answer.status === 204 || answer.status === 304;
    return new Response(bare ? null : answer.text, { status: answer.status, headers: answer.headers });
  };
  const account = {
    url: connection.url,
    email: newEmail(),
    password: randomBytes(18).toString("base64url"),
    device: { id: "cases", name: "npm run cases", type: "cli" },
    ...("organization" in joining ? {} : joining),
  };
  const { session } = await register(account, { fetch: patient });
  const keeper = memoryKeeper(session);
  const client = personClient(keeper, connection.url, { fetch: patient });

  const accessToken = async (): Promise<string> => {
    const { access_expires_at } = await keeper.current();
    if (access_expires_at - spareSeconds <= Date.now() / 1000) await client.account();
    return (await keeper.current()).access_token;
  };

  const call: Owner["call"] = async (method, path, body) => {
    const answer = await connection.sendPatiently({
      method,
      path,
      headers: {
        authorization: `Bearer ${await accessToken()}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      address,
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
    return (answer.json ?? {}) as Record<string, unknown>;
  };

  // Without an entry, so without a history: the cases use the specification's interface alone.
  if ("organization" in joining) await call("POST", "/api/orgs", { name: joining.organization });
  const org = await call("GET", "/api/org");
  const userKey = decodeBase64(session.user_key);
  return {
    id: session.user.id,
    orgId: String(org["id"]),
    userKey,
    session: sessionOf(session),
    accessToken,
    login: async () => {
      const device = { ...account.device, id: randomBytes(9).toString("hex") };
      return sessionOf(await login({ ...account, device }, { fetch: patient }));
    },
    call,
  };
}

/** Lasts for one case: it is not renewed. */
function sessionOf({ session_id, access_token, refresh_token }: PersonSession): Session {
  return { session_id, access_token, refresh_token, accessToken: () => Promise.resolve(access_token) };
}
