import { encodeBase64Url, encodeText, newKeyPair, signEs256 } from "@coffer/crypto";
import type { KeyPair } from "@coffer/crypto";
import { sign } from "@coffer/history";
import type { Change, HistoryState, Holder, HolderId, Resource, SignedEntry } from "@coffer/history";

/** A person or a machine with its own key pair. */
export interface Actor extends KeyPair {
  who: HolderId;
  email: string;
}

let count = 0;

/** A new id in the form of those that the service makes. */
export function newUuid(): string {
  count += 1;
  return `01900000-0000-7000-8000-${String(count).padStart(12, "0")}`;
}

export async function newActor(kind: "user" | "client" = "user"): Promise<Actor> {
  const id = newUuid();
  return { ...(await newKeyPair()), who: `${kind}:${id}`, email: `${id}@example.com` };
}

/** A member of `set`; with the e-mail in organizations. */
export function holder(actor: Actor, perm: Holder["perm"], res: Resource): Holder {
  const email = res.startsWith("org:") ? { email: actor.email } : {};
  return { who: actor.who, key: actor.publicKey, perm, ...email };
}

export const check = "ab".repeat(32);

/** Entry 0 of an organization, a folder or a vault, signed by its founder. */
export function found(res: Resource, founder: Actor, org = newUuid(), others: Holder[] = []): Promise<SignedEntry> {
  const set = [holder(founder, "manage", res), ...others];
  const change = res.startsWith("org:") ? { name: "Example", set } : { name: "production", org, ver: 1, check, set };
  return signAs(null, res, founder, change);
}

export function signAs(
  before: HistoryState | null,
  res: Resource,
  { who, privateKey }: Actor,
  change: Change,
): Promise<SignedEntry> {
  return sign(before, res, who as `user:${string}`, privateKey, change); // tests let machines try too
}

/** Signs any claims, also such as `sign` would refuse. */
export async function forge(privateKey: Uint8Array, claims: unknown, header?: string): Promise<string> {
  const payload = typeof claims === "string" ? claims : JSON.stringify(claims);
  const head = header ?? '{"alg":"ES256","typ":"coffer-history+jwt"}';
  const signed = [head, payload].map((part) => encodeBase64Url(encodeText(part))).join(".");
  return `${signed}.${encodeBase64Url(await signEs256(privateKey, encodeText(signed)))}`;
}
