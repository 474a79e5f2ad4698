import { decodeBase64Url, decodeText, encodeBase64Url, encodeText, importPublicKey, sha256Hex } from "@coffer/crypto";
import type { Claims } from "./claims.ts";
import { entryHeader, longestEntry } from "./claims.ts";
import { claimsProblem } from "./claims-problem.ts";
import { HistoryError } from "./history-error.ts";

/** An entry with a valid form. Its position and signer are not checked. */
export interface Entry {
  claims: Claims;
  /**
   * Lower-case hex SHA-256 of `header.payload`, without the signature: signatures are malleable.
   */
  hash: string;
  /** The bytes that the signature covers. */
  signed: Uint8Array<ArrayBuffer>;
  signature: Uint8Array<ArrayBuffer>;
}

const header = encodeBase64Url(encodeText(entryHeader));

/**
 * Reads an entry: size, encoding, header, claims, keys.
 *
 * @param text the compact JWS
 * @throws HistoryError `history_invalid`
 */
export async function readEntry(text: string): Promise<Entry> {
  const parts = text.length <= longestEntry ? text.split(".") : [];
  const [head, payload = "", signature = ""] = parts;
  if (parts.length !== 3 || head !== header) throw malformed("it is not a compact JWS with the header of an entry");
  const { text: json, claims } = readClaims(payload);
  const problem = claimsProblem(claims);
  if (problem !== null) throw malformed(problem);
  requireOnce(json, claims);
  const entry = claims as Claims; // claimsProblem has looked at every member
  const keys = [...(entry.set ?? []).map(({ key }) => key), ...(entry.invite ?? []).map((one) => one.join_key)];
  await Promise.all(keys.map((key) => importPublicKey(key, "ECDSA"))).catch(() => {
    throw malformed("it names a key that is not the canonical SPKI of a P-256 key");
  });
  const signed = encodeText(`${header}.${payload}`);
  return { claims: entry, hash: await sha256Hex(signed), signed, signature: bytesOf(signature) };
}

function readClaims(payload: string): { text: string; claims: unknown } {
  try {
    const text = decodeText(bytesOf(payload));
    return { text, claims: JSON.parse(text) };
  } catch {
    throw malformed("its payload is not JSON in UTF-8");
  }
}

/**
 * Refuses duplicate member names. The claims have the right form, so deeper nesting is impossible.
 */
function requireOnce(text: string, claims: unknown): void {
  // Each member of the text has one colon outside of strings; JSON.parse drops duplicates.
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1;
  if (colons !== countMembers(claims)) throw malformed("it names a claim twice");
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, one) => sum + countMembers(one), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64Url(text);
  } catch {
    throw malformed("it is not canonical base64url");
  }
}

function malformed(why: string): HistoryError {
  return new HistoryError("history_invalid", `not an entry of a history: ${why}`);
}
