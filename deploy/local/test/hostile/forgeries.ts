import { box, type Context, contexts, fingerprint, newSecretUid } from "@coffer/crypto";
import { claimsOf, forge, hashOf, isEntry, mark, sealedKey, sealedText } from "./attacker.ts";
import { at, type Place } from "./place.ts";
import type { Exchange } from "./wire.ts";
import type { World } from "./world.ts";

/** A member of a response that the attacker replaces. */
export interface Target {
  world: World;
  exchange: Exchange;
  place: Place;
  /** Its object or list. */
  parent: Record<string | number, unknown>;
  name: string | number;
  value: unknown;
}

/** The used keys: the attacker's own, or those of its accomplices. */
export type Forger = "attacker" | "accomplice";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The attacker's replacement of a value, otherwise plausible. */
export async function forgery(target: Target, forger: Forger): Promise<unknown> {
  const { world, exchange, value, name } = target;
  if (typeof value === "number") return forger === "attacker" ? value + 1 : Math.max(0, value - 1);
  if (typeof value === "boolean") return !value;
  if (isEntry(value)) return forgedEntry(world, value, forger);
  const sealed = await sealedForgery(target, forger).catch(() => mark);
  return sealed ?? plainForgery(world, exchange, String(name), value);
}

/** A ciphertext under keys of the attacker, bound to its place; undefined for a member that is none. */
async function sealedForgery(
  { world, exchange, place, parent, name }: Target,
  forger: Forger,
): Promise<string | undefined> {
  const { attacker, oldKeys } = world;
  const ofVault = isOfVault(exchange);
  const old = ofVault ? oldKeys.team : oldKeys.production;
  const key = forger === "attacker" ? attacker.key : old;
  const uid = text(parent["uid"]) || text(at(exchange.answer.body, [...place.slice(0, -2), "uid"]));
  const id = text(parent["folder_id"]) || text(parent["id"]) || text(exchange.path.split("/")[4]);
  switch (name) {
    case "encrypted_key":
      return sealedKey(
        publicKeyOf(world, exchange.from),
        key,
        ofVault ? contexts.vaultKey(id) : contexts.sharedFolderKey(id),
      );
    case "encrypted_data":
      return sealedText(key, JSON.stringify({ name: mark, password: mark }), recordContext(parent));
    case "wrapped_dek":
      return box(key, attacker.dek, contexts.dek(uid));
    case "data_encrypted":
      return sealedText(attacker.dek, JSON.stringify({ name: mark, fields: { password: mark } }), contexts.data(uid));
    case "title_encrypted":
      return sealedText(key, mark, contexts.title(uid));
    case "value_encrypted":
      return sealedText(key, mark, contexts.field(uid, text(parent["field"])));
    default:
      return undefined;
  }
}

const recordContext = (parent: Record<string | number, unknown>): Context =>
  contexts.record(text(parent["vault_id"]), text(parent["id"]) || text(parent["record_id"]));

const isOfVault = ({ path }: Exchange): boolean => path.startsWith("/api/vaults") || path.startsWith("/api/sync");

async function plainForgery({ attacker }: World, { path }: Exchange, name: string, value: unknown): Promise<unknown> {
  switch (name) {
    case "public_key":
      return attacker.publicKey;
    case "fingerprint":
      return (await fingerprint(attacker.publicKey)).hex;
    case "uid":
    case "secret_uid":
      return newSecretUid();
    case "email":
      return `${mark}@example.com`;
    case "permission":
      return value === "manage" ? "read" : "manage";
    case "role":
      return value === "owner" ? "member" : "owner";
    case "type":
      return path.startsWith("/api/vaults") && value === "shared" ? "personal" : "shared";
    case "encrypted_key_alg":
      return value === "jwe" ? "box-user" : "jwe";
    default:
      if (/^[0-9a-f]{8}-/.test(text(value))) return attacker.id;
      if (/^\d{4}-\d{2}-\d{2}T/.test(text(value))) return new Date(Date.now() + 86_400_000).toISOString();
      return mark;
  }
}

function publicKeyOf({ people, machines, attacker }: World, from: string): string {
  const person = Object.values(people).find(({ name }) => name === from);
  const machine = Object.values(machines).find(({ name }) => name === from);
  return person?.publicKey ?? machine?.configuration.public_key ?? attacker.publicKey;
}

/**
 * The entry with keys of the attacker, signed by an unauthorized person: the attacker, or Rita, who
 * reads.
 */
async function forgedEntry({ attacker, people }: World, entry: string, forger: Forger): Promise<string> {
  const claims = claimsOf(entry);
  const set = claims.set?.map((holder) => ({ ...holder, key: attacker.publicKey }));
  const { privateKey } = forger === "attacker" ? attacker : people.rita;
  return forge({ ...claims, ...(set === undefined ? {} : { set }) }, privateKey);
}

/** Another item for a list, like the last one, with ids and keys of the attacker. */
export async function forgedItem(world: World, exchange: Exchange, last: unknown): Promise<unknown> {
  if (isEntry(last)) return nextEntry(world, last);
  if (typeof last !== "object" || last === null) return mark;
  const parent: Record<string, unknown> = { ...last };
  for (const name of ["id", "uid", "client_id", "user_id"])
    if (name in parent) parent[name] = name === "uid" ? newSecretUid() : world.attacker.id;
  for (const [name, value] of Object.entries(parent))
    if (!genuine.has(name) && typeof value === "string")
      parent[name] = await forgery({ world, exchange, place: [], parent, name, value }, "attacker");
  return parent;
}

/** Members of a forged item that stay genuine, so that it is accepted as one. */
const genuine = new Set([
  "id",
  "uid",
  "client_id",
  "user_id",
  "folder_id",
  "vault_id",
  "type",
  "permission",
  "role",
  "status",
  "kind",
]);

/**
 * An entry after this one that makes the attacker a manager, signed with the attacker's key in the
 * name of its signer.
 */
async function nextEntry({ attacker }: World, entry: string): Promise<string> {
  const { res, seq, by } = claimsOf(entry);
  const set = [{ who: `user:${attacker.id}`, key: attacker.publicKey, perm: "manage" }];
  return forge({ res, seq: seq + 1, prev: await hashOf(entry), by, set }, attacker.privateKey);
}
