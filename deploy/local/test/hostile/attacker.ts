import {
  box,
  type Context,
  decodeBase64Url,
  encodeBase64Url,
  encodeText,
  type KeyPair,
  newKeyPair,
  seal,
  sha256Hex,
  signEs256,
} from "@coffer/crypto";
import type { Claims } from "@coffer/history";

/** A mark in every text of the attacker. */
export const mark = "chosen-by-the-attacker";

/** The key pair, folder key, DEK and seed of the operator. */
export interface Attacker extends KeyPair {
  id: string;
  /** A folder or vault key. */
  key: Uint8Array;
  dek: Uint8Array;
}

export async function newAttacker(): Promise<Attacker> {
  const random = (): Uint8Array => crypto.getRandomValues(new Uint8Array(32));
  return { ...(await newKeyPair()), id: crypto.randomUUID(), key: random(), dek: random() };
}

/** A text sealed under a key of the attacker. */
export function sealedText(key: Uint8Array, text: string, context: Context): Promise<string> {
  return box(key, encodeText(text), context);
}

/** A key of the attacker, sealed to a public key as an honest manager would seal it. */
export function sealedKey(publicKey: string, key: Uint8Array, context: Context): Promise<string> {
  return seal(publicKey, key, context);
}

const header = encodeBase64Url(encodeText('{"alg":"ES256","typ":"coffer-history+jwt"}'));

/** An entry with any claims, signed with any key, without checks. */
export async function forge(claims: object, privateKey: Uint8Array): Promise<string> {
  const signed = `${header}.${encodeBase64Url(encodeText(JSON.stringify(claims)))}`;
  return `${signed}.${encodeBase64Url(await signEs256(privateKey, encodeText(signed)))}`;
}

/** The claims of an entry. */
export function claimsOf(entry: string): Claims {
  return JSON.parse(new TextDecoder().decode(decodeBase64Url(entry.split(".")[1] ?? ""))) as Claims;
}

/** The hash of an entry, as the next one names it. */
export function hashOf(entry: string): Promise<string> {
  return sha256Hex(encodeText(entry.slice(0, entry.lastIndexOf("."))));
}

export function isEntry(value: unknown): value is `${string}.${string}` {
  return typeof value === "string" && value.startsWith(`${header}.`);
}

/** The same signature in its other form: ECDSA accepts s and n - s. */
export function malleated(entry: string): string {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const at = entry.lastIndexOf(".") + 1;
  const bytes = decodeBase64Url(entry.slice(at));
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).toString("hex")}`);
  const other = Buffer.from((order - s).toString(16).padStart(64, "0"), "hex");
  return entry.slice(0, at) + encodeBase64Url(new Uint8Array([...bytes.subarray(0, 32), ...other]));
}

/** Entries after `before` (all that there are), each signed by `by` with `privateKey` and in its place. */
export async function forgeAfter(
  before: readonly string[],
  res: string,
  changes: readonly { by: string; privateKey: Uint8Array; change: object }[],
): Promise<string[]> {
  const entries = [...before];
  for (const { by, privateKey, change } of changes) {
    const last = entries.at(-1);
    const place = { seq: entries.length, prev: last === undefined ? null : await hashOf(last) };
    entries.push(await forge({ res, ...place, by, ...change }, privateKey));
  }
  return entries;
}
