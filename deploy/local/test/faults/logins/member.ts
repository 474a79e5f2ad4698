import { randomBytes } from "node:crypto";
import { newKeyPair, readInviteToken } from "@coffer/crypto";
import { startRegistration } from "@coffer/crypto/opaque";
import { extendAll, type Holder, openInvitation, readEntry, sign } from "@coffer/history";
import { finishRegistration } from "../../../../../services/auth-sm/test/support/opaque.ts";
import type { Cli } from "../../cli/cli-person.ts";
import { type Answer, demand } from "../caller.ts";
import type { Deed } from "../ledger.ts";

/** A member of an organization who logs in again and again. */
export interface Member {
  email: string;
  password: string;
  userId: string;
  /** The session of the registration, which lasts. */
  first: Tokens & { id: string };
  /** The sessions of acknowledged logins. */
  sessions: Session[];
}

/** The tokens of a session. */
export interface Tokens {
  access: string;
  refresh: string;
}

export interface Session {
  id: string;
  tokens: Tokens;
  /** Whether a refresh had no response in time: then either of two refresh tokens may be the present one. */
  isRefreshInDoubt: boolean;
  /** Null before the first request. */
  logout: Deed | null;
}

export const device = { id: "faults", name: "faults", type: "cli" };

export function tokensOf({ body }: Pick<Answer, "body">): Tokens {
  return { access: String(body["access_token"]), refresh: String(body["refresh_token"]) };
}

/** Invites a person, who registers and joins the organization with a signed entry. */
export async function newMember(url: string, owner: Cli, email: string): Promise<Member> {
  const post = (path: string, body: object, bearer?: string): Promise<Answer["body"]> =>
    demand(url, { method: "POST", path, body, ...(bearer === undefined ? {} : { bearer }) });
  const password = randomBytes(12).toString("base64");
  const invitation = await readInviteToken(await owner.data(["invite", "create", email]));
  const { token } = invitation;
  const { state, registrationRequest } = await startRegistration(password);
  const started = await post("/api/auth/register/start", { email, registration_request: registrationRequest });
  const registrationResponse = String(started["registration_response"]);
  const { publicKey } = await newKeyPair();
  const sealed = randomBytes(48).toString("base64");
  const body = await post("/api/auth/register/finish", {
    email,
    registration_record: await finishRegistration({ state, registrationResponse, password }),
    public_key: publicKey,
    encrypted_user_key: sealed,
    encrypted_private_key: sealed,
    invite_token: token,
    device,
  });
  const { id } = body["user"] as { id: string };
  const first = { id: String(body["session_id"]), ...tokensOf({ body }) };
  const { data } = await post("/api/org/invites/history", { token }, first.access);
  const entry = await joinEntry(data as string[], invitation, { who: `user:${id}`, key: publicKey, email });
  await post("/api/org/invites/accept", { token, entry }, first.access);
  return { email, password, userId: id, first, sessions: [] };
}

/** The entry with which an invited person joins an organization. */
async function joinEntry(
  entries: string[],
  { tokenHash, wrapKey }: Awaited<ReturnType<typeof readInviteToken>>,
  person: Omit<Holder, "perm">,
): Promise<string> {
  const { claims } = await readEntry(entries[0] ?? "");
  const { state } = await extendAll(null, claims.res, entries);
  const invitation = state.invitations.find(({ tag }) => tag === tokenHash);
  const joinKey = await openInvitation(state.res, invitation, wrapKey);
  const joined = await sign(state, state.res, `invite:${tokenHash}`, joinKey, { set: [{ ...person, perm: "read" }] });
  return joined.text;
}
