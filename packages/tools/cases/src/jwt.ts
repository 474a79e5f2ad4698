import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { JwtGiven } from "./case-file.ts";
import type { Machine } from "./machine.ts";

const lifeSeconds = 300;

/** A valid token. */
export const rightToken: JwtGiven = { header: {}, claims: {}, key: "own", signature: "p1363" };

/**
 * A machine's token for `audience` as a case wants it: a valid one with replaced header members and
 * claims (null removes one), signed in the named way.
 */
export function signToken(
  { client_id, public_key, privateKey }: Machine,
  audience: string,
  { header, claims, key, signature }: JwtGiven,
): string {
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    changed({ alg: "ES256", typ: "JWT" }, header),
    changed({ sub: client_id, aud: audience, iat: now, exp: now + lifeSeconds }, claims),
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signingKey = key === "own" ? privateKey : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  return `${signed}.${signatureOf(signed, signingKey, public_key, signature)}`;
}

function signatureOf(signed: string, key: KeyObject, publicKey: string, how: JwtGiven["signature"]): string {
  const data = Buffer.from(signed);
  switch (how) {
    case "none":
      return "";
    case "hmac":
      return createHmac("sha256", publicKey).update(data).digest("base64url");
    case "der":
      return sign("sha256", data, { key, dsaEncoding: "der" }).toString("base64url");
    case "p1363":
      return sign("sha256", data, { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
    case "altered": {
      const bytes = sign("sha256", data, { key, dsaEncoding: "ieee-p1363" });
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      return bytes.toString("base64url");
    }
  }
}

function changed(right: Record<string, unknown>, instead: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...right, ...instead }).filter(([, value]) => value !== null));
}
