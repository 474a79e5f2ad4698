import { generateKeyPairSync, randomBytes } from "node:crypto";
import { startRegistration } from "@coffer/crypto/opaque";
import { finishRegistration } from "../../../../../services/auth-sm/test/support/opaque.ts";
import type { Answer, Caller } from "../caller.ts";
import { demand } from "../caller.ts";
import type { Deed } from "../ledger.ts";

/** A member of an organization who logs in again and again. */
export interface Member {
  email: string;
  password: string;
  userId: string;
  /** The one that began with the registration, and lasts. */
  first: Tokens & { id: string };
  /** Those that began with a login which was acknowledged. */
  sessions: Session[];
}

/** What a session goes on with. */
export interface Tokens {
  access: string;
  refresh: string;
}

export interface Session {
  id: string;
  tokens: Tokens;
  /** Whether a refresh was not answered in time: which of two refresh tokens is the present one is not known. */
  isRefreshInDoubt: boolean;
  /** Null while nobody has asked for it. */
  logout: Deed | null;
}

export const device = { id: "faults", name: "faults", type: "cli" };

export function tokensOf({ body }: Pick<Answer, "body">): Tokens {
  return { access: String(body["access_token"]), refresh: String(body["refresh_token"]) };
}

/** Registers somebody whom the person has invited. */
export async function newMember(url: string, person: Caller, email: string): Promise<Member> {
  const post = (path: string, body: object, bearer?: string): Promise<Answer["body"]> =>
    demand(url, { method: "POST", path, body, ...(bearer === undefined ? {} : { bearer }) });
  const password = randomBytes(12).toString("base64");
  const invite = await post("/api/org/invites", { email, role: "member" }, person.bearer());
  const { state, registrationRequest } = await startRegistration(password);
  const started = await post("/api/auth/register/start", { email, registration_request: registrationRequest });
  const registrationResponse = String(started["registration_response"]);
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const sealed = randomBytes(48).toString("base64");
  const body = await post("/api/auth/register/finish", {
    email,
    registration_record: await finishRegistration({ state, registrationResponse, password }),
    public_key: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    encrypted_user_key: sealed,
    encrypted_private_key: sealed,
    invite_token: invite["token"],
    device,
  });
  const { id } = body["user"] as { id: string };
  const first = { id: String(body["session_id"]), ...tokensOf({ body }) };
  return { email, password, userId: id, first, sessions: [] };
}
